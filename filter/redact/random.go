package redact

import (
	"bytes"
	"math"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// isRandom reports whether a value looks random: by its pairs of letters it
// is more likely drawn from an alphabet than a name or word of a program.
func isRandom(v []byte) bool {
	if isWhollyRandom(v) {
		return true
	}
	const long, name = 16, 40 // of a prefix: sqp_..., sk-or-v1-...
	from := len(v)
	for from > 0 && text.AlnumSet[v[from-1]] {
		from--
	}
	if from > 0 && v[from-1] != '_' && v[from-1] != '-' || from == 0 {
		for from = len(v); from > 0 && text.HexSet[v[from-1]]; {
			from--
		}
	}
	return len(v)-from >= long && from > 0 && from < name && isWhollyRandom(v[from:])
}

// isWhollyRandom reports whether the whole value looks random.
func isWhollyRandom(v []byte) bool {
	if len(v) < 8 {
		return false
	}
	least, odd := 4*evidenceUnit, 0 // evidence needed; each separator needs more
	for _, b := range v {
		if text.AlnumSet[b] {
			continue
		}
		least += 2 * evidenceUnit
		if bytes.IndexByte([]byte("!#$%^&*?~|+=@"), b) >= 0 {
			odd++
		}
	}
	return evidence(v) >= least || odd >= 3 && len(v) >= 12 && text.HasDigit(v)
}

// evidenceUnit is the unit of chance and letterCosts.
const evidenceUnit = 8

// evidence returns the evidence that a value was drawn from an alphabet and is
// not a name, in eighths of a bit.
func evidence(v []byte) int {
	size := alphabetSize(v)
	letter, digit := uniformCosts[size], uniformCosts[size]-uniformCosts[10]
	sum, before := 0, uint8(startSign)
	for i := 0; i < len(v); i++ {
		if before == startSign { // a number is not evidence
			i = text.DigitSet.SkipRun(v, i)
			if i == len(v) {
				break
			}
		}
		sign := signs[v[i]]
		switch {
		case sign == startSign:
		case sign == digitSign:
			sum += letterCost(before, sign) - digit
		default:
			sum += letterCost(before, sign) - letter
		}
		before = sign
	}
	return sum
}

// alphabetSize returns the size of the smallest alphabet that contains a value.
func alphabetSize(v []byte) int {
	upper, lower, digit, hex := 0, 0, 0, true
	for _, b := range v {
		switch {
		case text.DigitSet[b]:
			digit = 10
		case text.IsUpper(b):
			upper = 26
			hex = hex && b <= 'F'
		case text.AlnumSet[b]:
			lower = 26
			hex = hex && b <= 'f'
		}
	}
	if hex {
		return 6 + digit
	}
	return upper + lower + digit
}

// uniformCosts is the cost of a letter in an alphabet of each size.
var uniformCosts = func() (all [63]int) {
	for n := range all {
		all[n] = int(math.Round(math.Log2(float64(max(n, 1))) * evidenceUnit))
	}
	return all
}()

// Signs are numbered: small letters, capitals, a digit, and the start of a
// word.
const (
	digitSign = 52
	startSign = 53
)

var signs = func() (all [256]uint8) {
	for b := range all {
		switch {
		case b >= 'a' && b <= 'z':
			all[b] = uint8(b - 'a')
		case b >= 'A' && b <= 'Z':
			all[b] = uint8(b-'A') + 26
		case b >= '0' && b <= '9':
			all[b] = digitSign
		default:
			all[b] = startSign
		}
	}
	return all
}()

func letterCost(before, sign uint8) int {
	return int(letterCosts[int(before)*(digitSign+1)+int(sign)]) - '#'
}

// letterCosts is the cost of a sign after another one in names and words. It
// has a row for each preceding sign; costs start at # and are in eighths of a
// bit. They were counted in 44,000 words from the sources of Go, Python,
// JavaScript and Rust libraries.
const letterCosts = "" +
	`YHBE[VKzLuY<E@{Jz>E7UX_[Ul{{r{x{{{{{{{{x{q{{ip{x{{{{A` +
	`@JIK@NimEOk;_bH]{LHYComrSoo{{ok{{{o{{{{m{{{{o{m{{{{{2` +
	`>TLS<Ug?L{BJ^_;\qJR=OaqtY{mn{s{s{{o{ss{y{p{tos{{v{{{;` +
	`CPQC4P^u=fsNcbJ_{JJ_J^]i\{_b\_]_js]{ocdebV{_Vbien{{{8` +
	`GYD>PNVoaqkJJ=^P[9<BfTWLT{gkah_bnp_{ekecfb{e]_okk{{{E` +
	`DPLJ@;_t:{tI_a@_{MKON{t{S{komyqo{ye{{yk{tq{qc{yy{{{{4` +
	`FcVf1bQF>syJRADbl@DTGifs^ldsig]igy\ysiydioyaZ_oly{{yU` +
	`6dcP3aqm<{qVO[;dqETHIx^qYj\m_hfjqqmxjqafjfxf[jmmqx{{[` +
	`LRBHIMJ{p{dDF3=OvMB?tN{Y{J{{{{{{{{{{{{{{{{{{{{{{{{{{T` +
	`CY_Y1YqUL_U_RU>UqY8H@RYqqqqq_qqqqqqq_qqqqqqqqqqqqqqqL` +
	`@aTO0TKc={qOfMRYca<QMjZqZ{YqcaZWccc{qjZj__qXTjjqq{{{R` +
	`=c\I4]bp9{[=pa<Y{iMKIZpzB{sweqgnwwi{wmuiwgzm_l{p{{{{a` +
	`8I^X2lly=y_XJ^B:oeITLlyue{_yhrgom{a{ru{o{m{mbimuu{{{Z` +
	`CcB>?M9dFmSW^TJ]rd?6TSh{^yulithk{rltjtmlng{m_f{r{{{y_` +
	`SRDDcTRnTpRFC4LG{9GJCOKejyuywttr{{u{{ruu{q{{gqur{{{{]` +
	`<gX\5^^NF{\@be>Fv;K@Kiag[{h{imkv{{h{vo{m{q{mfq{v{{{{V` +
	`aarOaaraarrGaOraaOTW&aarrrraarrrrrrrrrrrrrrarrarrrrra` +
	`<bLO5[So<{VVKP=Z{FBDPUe{L{eqaoihw{e{smjgii{jcjqs{{{{a` +
	`KhGe7_[F<{XU\^GHh^?6FlYtQkcdalbdprd{mnddic{b^avnj{{{X` +
	`>kP^5YdF7{zSZfEX{?FMNkhdLsdj[a__sj]zkcbde^{eZ[ggm{{{N` +
	`JIJOFNS{G{t?F9ZG{?A>t{{c{px{{L{l{{{{{{{{{{{t{{{{{{{{=` +
	`8jWd+[dn8{t^YdJ^{j\\dnn_nt{{ttj{{{t{{tn{nt{{tntt{{{{G` +
	`8^OS=V_I=p{Mc>?VpADYfpfj{{c_Vc[V{c_p{]jj^Wp^IYj_jpp{^` +
	`MOKNKM{y^{{{{{{P{{{R{{{qy{klmkji{{t{{{{{{{{{{{{{u{{{&` +
	`XXTlS]\rJrrOE>U1{]>C{hN{_T_W]^Xbrb\r^_bWYZ{XKSdZ\{{lY` +
	`?yyh(]yhDyyhaZJyyaVyOyhyXPhayahyyhyyyyahyhyyhhyyyyyyZ` +
	`{^WM{gf{{s{OeQ{X{JMSZjp{{i_ICC^\KpLw]@GBlIwAE<SXUTXsU` +
	`G{s{Ms{{K{{K{{G[{Js{A{{{H{C\RZHU[l?__>[WJP{CF_G{hhZsE` +
	`I{{{[smJk{{Ges9m{SgiZ{{ik{CSPUEVKEQsIIR\@RsKDEUTgkc{L` +
	`Ir{{;{{{G{{y{{T{{Zdy\{{yk{HTLB9NQd?kQLZUHXkFHVOZ^da{F` +
	`o{se{kz{{{{__K{mbJcvzX{D{{IYCAOQQe[q_GL@YOZ<B=ZSZJ^oN` +
	`J{^\Vgwl<{{HgbG^{IWcFwgw{{H[LJMCYe@{iCQ[FOpLGQU{le_wF` +
	`d{{r={{{^{{W{rK{{HlrW{{{{{KSOS6XTMA{gKQKEO_CCSQ^ZdlrM` +
	`={{dB{{{P{{n{{C{{n{d_{{{dn;dZJ;Z^hB{hTQd>V{GXFKnS{OhS` +
	`{u{Sy^i{{{{qP=dq{{QS{{{{{{RWGDSFGygyoIH:;KuNECgSkZ{Td` +
	`<mmm\\mmVmmm\\;mm\>\JmmmmmL\V\A\RmRmVVNRJVmm9CN\\mmmR` +
	`X{{{0{{jK{{d{d\jjj_{dj{{{{KQOQ8RZdF{{MdUUZjSFLX\_j_{@` +
	`Mrr{JyyyA{{n{{Ey{{irn{r{{{>\QJ:Uai={NB]Y=UyUMENb_{U{T` +
	`>{w{D{{{N{cqwwAwwcZlMw{{\{<K[O:\cwD{_PNbEAqbIPNiqlW{W` +
	`@{{tF{{{c{{p{{G{{{akR{{{{{DUEA?LBcIpQQ^O@[i[D<Q[pkct\` +
	`{Tr{{Q{{{{vojW{H{Uii_cb{{{SU:LZNUlU{ZGI:PC{?DFILJdl{_` +
	`={zzUsz^\{_P{{Gz{=h[V_zzs{A^KW@XVRJzWKXaDHl>KFPeYf_{U` +
	`ZkkkkkkkkkkkkkkkkkkZ3kkkkkkkTCkkkZJkkBkkZZkOZk.kZkkZL` +
	`Nvv{9{{{d{{vmiV{{{mdL{vv{{A_MI7UWmB{WRMPARoOIFRW]kU{P` +
	`[{M{B{{WK{gZruNQlnn?Rpb{N{QbJR=_YL=pYQYYLNgVI=O^^iS_Q` +
	`T{x{Gx{TR{{{n{K{{Nl{a{xxC{A_LV=Q_I:{hPRXHOnAHKLac\OnM` +
	`{ttm{{t{H{{it?{P{_L]tmt{{{SMOTIRV{D{mDE9WD{E=?_t{X{{[` +
	`8{{{?{{{K{{mmmQ{{gg{{{{m{{BRSR4OcTC{gPNTKScWPSmmXU{mH` +
	`C{eaG{{K?{{l{{I{{Ba{l{{{{{;aQTG[^NAe{TYCIVlBAX[{lX{lV` +
	`[w[wffwwfwwwXwXwwwXfwwfwwwEXBTAP_VCwwTXTG=[OJ:__[LTw8` +
	`ZqqqNqqqPqqqqqNqqqqq_qqqqqHZPVFZ__Lq_N@;V8qK;FGqSqVVV` +
	`Rjjj:jjjRjjYjjGYjjYjjjjjYYKjRj-YNjNjjNjYKYjYRYjjRjRYR` +
	`NNNNNN{{f{{{{{vz{{{{_{{4{{rtvwvk{{{{{{u{{{{{t{{{{{{{)` +
	`PWMRSSW\QkiWSXZOlPJSP_]ZtrQVNSQSY\QhdWSVYPoPIQY_\evt/`
