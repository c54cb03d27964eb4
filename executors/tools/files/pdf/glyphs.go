package pdf

import (
	"strings"
	"sync"
)

// glyphs returns the characters by the names of glyphs: the names in the Adobe Glyph List that Latin and Greek text uses.
var glyphs = sync.OnceValue(func() map[string]string {
	m := map[string]string{".notdef": "", "nbspace": " ", "sfthyphen": "-"}
	for pair := range strings.FieldsSeq(glyphNames) {
		name, text, _ := strings.Cut(pair, "=")
		m[name] = text
	}
	m["space"], m["equal"] = " ", "="
	accents := map[string]string{"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "dieresis": "\u0308", "ring": "\u030a",
		"cedilla": "\u0327", "caron": "\u030c", "macron": "\u0304", "breve": "\u0306", "ogonek": "\u0328", "dotaccent": "\u0307", "hungarumlaut": "\u030b"}
	for letter := 'A'; letter <= 'z'; letter++ {
		for name, mark := range accents {
			if letter <= 'Z' || letter >= 'a' {
				m[string(letter)+name] = composed(string(letter) + mark)
			}
		}
	}
	return m
})

const glyphNames = `exclam=! quotedbl=" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' quoteright=’ quoteleft=‘ parenleft=( parenright=) asterisk=*
plus=+ comma=, hyphen=- minus=− period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=: semicolon=; less=<
greater=> question=? at=@ bracketleft=[ backslash=\ bracketright=] asciicircum=^ underscore=_ grave=` + "`" + ` braceleft={ bar=| braceright=} asciitilde=~
exclamdown=¡ cent=¢ sterling=£ fraction=⁄ yen=¥ florin=ƒ section=§ currency=¤ quotedblleft=“ guillemotleft=« guilsinglleft=‹ guilsinglright=› fi=fi fl=fl
ff=ff ffi=ffi ffl=ffl endash=– dagger=† daggerdbl=‡ periodcentered=· paragraph=¶ bullet=• quotesinglbase=‚ quotedblbase=„ quotedblright=” guillemotright=»
ellipsis=… perthousand=‰ questiondown=¿ acute=´ circumflex=ˆ tilde=˜ macron=¯ breve=˘ dotaccent=˙ dieresis=¨ ring=˚ cedilla=¸ hungarumlaut=˝ ogonek=˛
caron=ˇ emdash=— AE=Æ ordfeminine=ª Lslash=Ł Oslash=Ø OE=Œ ordmasculine=º ae=æ dotlessi=ı dotlessj=ȷ lslash=ł oslash=ø oe=œ germandbls=ß Eth=Ð eth=ð
Thorn=Þ thorn=þ onesuperior=¹ twosuperior=² threesuperior=³ onehalf=½ onequarter=¼ threequarters=¾ multiply=× divide=÷ plusminus=± logicalnot=¬ mu=µ
degree=° registered=® copyright=© trademark=™ brokenbar=¦ Euro=€ Dcroat=Đ dcroat=đ alpha=α beta=β gamma=γ delta=δ epsilon=ε epsilon1=ϵ zeta=ζ eta=η theta=θ
iota=ι kappa=κ lambda=λ nu=ν xi=ξ omicron=ο pi=π rho=ρ sigma=σ sigma1=ς tau=τ upsilon=υ phi=φ phi1=ϕ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ
Pi=Π Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω infinity=∞ element=∈ summation=∑ product=∏ integral=∫ partialdiff=∂ radical=√ lessequal=≤ greaterequal=≥
notequal=≠ approxequal=≈ similar=∼ equivalence=≡ arrowleft=← arrowright=→ arrowup=↑ arrowdown=↓ arrowdblright=⇒ arrowboth=↔ asteriskmath=∗ dotmath=⋅ union=∪
intersection=∩ propersubset=⊂ logicaland=∧ logicalor=∨ universal=∀ existential=∃ emptyset=∅ gradient=∇ proportional=∝ bullet2=• angbracketleft=⟨
angbracketright=⟩ lozenge=◊ checkmark=✓ f_i=fi f_l=fl f_f=ff f_f_i=ffi f_f_l=ffl`
