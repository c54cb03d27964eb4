package code

// Parts of patterns.
const (
	name     = `(?P<name>[\pL_$][\pL\d_$]*)`
	slashes  = "// * /*"
	modifier = `(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|sealed|partial|readonly|extern|unsafe|open|inline|data|suspend|operator|infix|tailrec|lateinit|const|required|convenience|mutating|fileprivate|weak|lazy|indirect|implicit|case|synchronized|native|default|transient|volatile|strictfp|new|external|late|covariant|nonisolated|expect|actual|inner|value|companion|annotation|fun|ref|event|package)\s+)*`
	noted    = `(?:@[\w.]+(?:\([^)]*\))?\s+|\[[^\]]*\]\s*)*` // annotations and attributes
)

// languages are the languages with patterns.
var languages = []language{
	{ // for files that go/parser cannot parse
		names: ".go", keywords: "func type var const", before: ")", comments: "//",
		patterns: []pattern{
			{"method", `^func \(\s*(?:\w+\s+)?\*?(?P<in>\w+)[^)]*\)\s*` + name},
			{"", `^(?P<kind>func|type|var|const)\s+` + name},
		},
	},
	{
		names: ".py .pyi .pyx", keywords: "def class", comments: "#", locals: true, within: `^\s*class\s+(\w+)`,
		patterns: []pattern{
			{"", `^\s*(?:async\s+)?(?P<kind>def|class)\s+` + name + `\s*[(:\[]`},
			{"var", `^` + name + `\s*(?::[^=]+)?=[^=]`},
			{"field", `^    ` + name + `\s*:\s*[\w"'\[]`},
		},
	},
	{
		names: ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte", comments: slashes, locals: true, within: `^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:class|interface|enum|namespace|module)\s+([\w$]+)`,
		keywords: "function class interface type enum namespace module const let var async static get set public private protected readonly override abstract declare default", before: "*#.",
		patterns: []pattern{
			{"", `^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const\s+)?(?P<kind>function|class|interface|enum|namespace|module)\b\s*\*?\s*` + name},
			{"type", `^\s*(?:export\s+)?(?:declare\s+)?type\s+` + name + `\s*(?:<[^=]*>)?\s*=`},
			{"func", `^\s*(?:export\s+)?(?:const|let|var)\s+` + name + `\s*(?::[^=]+)?=\s*(?:async\s+)?(?:function\b|(?:<[^>]*>)?\([^=]*=>|\([^)]*$|[\w$]+\s*=>)`},
			{"", `^\s*(?:export\s+)?(?:declare\s+)?(?P<kind>const|let|var)\s+` + name},
			{"func", `^(?:module\.)?exports\.` + name + `\s*=`},
			{"func", `^(?P<in>[\w$]+(?:\.prototype)?\.)` + name + `\s*=\s*(?:async\s+)?(?:function\b|\()`},
			{"func", `^\s+(?:(?:public|private|protected|static|async|readonly|override|abstract|declare|get|set)\s+)*[*#]?` + name + `\s*(?:<[^>]*>)?\([^;]*\{\s*$`},
			{"func", `^\s+(?:(?:public|private|protected|static|readonly|override)\s+)*#?` + name + `\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|[\w$]+)\s*(?::[^=]+)?=>`},
			{"func", `^\s+` + name + `\s*:\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>)`},
			{"field", `^\s+(?:(?:public|private|protected|static|readonly|override|declare|abstract)\s+)*#?` + name + `[?!]?\s*:\s*[^,]+;\s*$`},
		},
	},
	{
		names: ".rs", keywords: "fn struct enum trait union type mod static const mut macro_rules! pub", comments: "// * /* #[", locals: true, within: `^\s*(?:pub\s+)?(?:unsafe\s+)?(?:impl(?:<[^{]*?>)?\s+(?:[^{]*?\bfor\s+)?&?(?:\w+::)*|trait\s+|enum\s+|struct\s+|mod\s+)(\w+)`,
		patterns: []pattern{
			{"", `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern|"[^"]*")\s+)*(?P<kind>fn|struct|enum|trait|union|type|mod)\s+` + name},
			{"", `^\s*(?:pub(?:\([^)]*\))?\s+)?(?P<kind>static|const)\s+(?:mut\s+)?` + name + `\s*:`},
			{"", `^\s*(?P<kind>macro_rules!)\s*` + name},
			{"field", `^\s+(?:pub(?:\([^)]*\))?\s+)?` + name + `\s*:\s*[^:].*,\s*$`},
			{"member", `^\s+` + name + `\s*(?:\([^)]*\)|\{|=[^=].*)?,?\s*$`},
		},
	},
	{
		names: ".java .groovy .gradle", keywords: "*", before: ">]", comments: slashes, typed: true, within: `^\s*` + noted + modifier + `(?:class|interface|enum|record|@interface)\s+(\w+)`,
		patterns: []pattern{
			{"", `^\s*` + noted + modifier + `(?P<kind>class|interface|enum|record|@interface)\s+` + name},
			{"func", `^\s*` + noted + modifier + `(?:<[^(]+>\s+)?[\w<>\[\],.?]+(?:\s*<[^(=]*>)?(?:\[\])*\s+` + name + `\s*\([^=]*$`},
			{"func", `^\s*` + noted + `(?:public|protected|private)\s+` + name + `\s*\(`},
			{"field", `^\s*` + noted + `(?:(?:public|protected|private|static|final|volatile|transient)\s+)+[\w<>\[\],.? ]+\s+` + name + `\s*(?:=|;)`},
			{"member", `^\s+(?P<name>[A-Z][A-Z0-9_]*)\s*(?:\([^)]*\))?\s*[,;{]?\s*$`},
		},
	},
	{
		names: ".cs", keywords: "*", before: ">]?.", comments: "// * /* #", typed: true, within: `^\s*` + noted + modifier + `(?:class|interface|enum|record|struct)\s+(?:struct\s+|class\s+)?(\w+)`,
		patterns: []pattern{
			{"", `^\s*` + noted + modifier + `(?P<kind>class|interface|enum|struct|record|namespace)\s+(?:struct\s+|class\s+)?(?:\w+\.)*` + name},
			{"type", `^\s*` + noted + modifier + `delegate\s+[\w<>\[\],.?]+\s+` + name},
			{"func", `^\s*` + noted + modifier + `[\w<>\[\],.?]+(?:\s*<[^(=]*>)?(?:\[\])*\??\s+` + name + `\s*(?:<[^>]*>)?\([^=]*(?:=>.*)?$`},
			{"func", `^\s*` + noted + `(?:public|protected|private|internal)\s+` + name + `\s*\(`},
			{"field", `^\s*` + noted + `(?:(?:public|protected|private|internal|static|readonly|const|required|virtual|override)\s+)+[\w<>\[\],.? ]+\s+` + name + `\s*(?:=|;|\{)`},
		},
	},
	{
		names: ".kt .kts", keywords: "fun class interface object typealias val var", before: ".>", comments: slashes, locals: true, within: `^\s*` + noted + modifier + `(?:enum\s+)?(?:class|interface|object)\s+(\w+)`,
		patterns: []pattern{
			{"", `^\s*` + noted + modifier + `(?:enum\s+)?(?P<kind>class|interface|object|typealias)\s+` + name},
			{"func", `^\s*` + noted + modifier + `fun\s+(?:<[^>]*>\s*)?(?P<in>[\w<>?, ]+\.)?` + name + `\s*\(`},
			{"func", `^\s*` + noted + `(?:(?:public|private|protected|internal|override|open|abstract|suspend|inline|operator|infix|tailrec|final)\s+)*fun\s+(?:<[^>]*>\s*)?(?P<in>[\w<>?, ]+\.)?` + name + `\s*\(`},
			{"", `^\s*` + noted + modifier + `(?P<kind>val|var)\s+(?:<[^>]*>\s*)?(?P<in>[\w<>?]+\.)?` + name},
		},
	},
	{
		names: ".swift", keywords: "func class struct enum protocol actor typealias let var case extension", comments: slashes, locals: true, within: `^\s*` + noted + modifier + `(?:class|struct|enum|protocol|actor|extension)\s+([\w.]+)`,
		patterns: []pattern{
			{"", `^\s*` + noted + modifier + `(?:class\s+)?(?P<kind>func|struct|enum|protocol|actor|typealias)\s+` + name},
			{"class", `^\s*` + noted + modifier + `class\s+` + name + `\s*[:{<]`},
			{"", `^\s*` + noted + modifier + `(?:private\(set\)\s+)?(?P<kind>let|var)\s+` + name},
			{"member", `^\s+(?:indirect\s+)?case\s+` + name + `\s*(?:\(.*\)|=.*)?$`},
		},
	},
	{
		names: ".scala .sc", keywords: "def class object trait enum type val var", comments: slashes, locals: true, within: `^\s*` + noted + modifier + `(?:class|object|trait|enum)\s+(\w+)`,
		patterns: []pattern{{"", `^\s*` + noted + modifier + `(?P<kind>def|class|object|trait|enum|type|val|var)\s+` + name}},
	},
	{
		names: ".c .h .cc .cpp .cxx .hpp .hh .hxx .ino .m .mm .cu", keywords: "*", before: "*&>:~", comments: slashes, typed: true, within: `^\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum(?:\s+class)?)\s+(?:[A-Z_]+\s+)?(\w+)`,
		patterns: []pattern{
			{"macro", `^\s*#\s*define\s+` + name},
			{"", `^\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?(?P<kind>class|struct|union|enum|concept)\s+(?:class\s+|struct\s+)?(?:[A-Z_]+(?:\([^)]*\))?\s+|\[\[.*\]\]\s*)?` + name + `(?:\s+final)?\s*(?:<[^;]*>\s*)?(?::[^:;].*|=.*|\{.*)?$`},
			{"", `^\s*(?:inline\s+)?(?P<kind>namespace)\s+(?:\w+::)*` + name},
			{"type", `^\s*using\s+` + name + `\s*=`},
			{"type", `^\s*typedef\b.*[\s*]` + name + `\s*(?:\[[^\]]*\])?;`},
			{"type", `^\s*typedef\b.*\(\s*\*\s*` + name + `\s*\)`},
			{"type", `^\}\s*(?:__\w+\S*\s+)*` + name + `\s*;`},
			{"func", `^\s*(?:template\s*<.*>\s*)?(?:[\w:<>,~\[\]"]+[\s*&]+)+(?P<in>(?:\w+(?:<[^>]*>)?::)+)?(?P<name>~?[\pL_][\pL\d_]*)\s*\([^=]*$`},
			{"func", `^(?P<in>(?:\w+(?:<[^>]*>)?::)+)?(?P<name>~?[\pL_][\pL\d_]*)\s*\([^;"]*$`},
			{"var", `^(?:(?:static|extern|const|constexpr|volatile|inline|thread_local|unsigned|signed|struct)\s+)*[\w:<>,]+[\s*&]+` + name + `\s*(?:\[[^\]]*\])*\s*(?:=.*|;)\s*$`},
			{"member", `^\s+(?P<name>[A-Z]\w*)\s*(?:=[^=;]*)?,?\s*(?://.*|/\*.*)?$`},
			{"field", `^\s+(?:(?:const|unsigned|signed|struct|volatile|mutable|static)\s+)*[\w:<>,]+[\s*&]+` + name + `\s*(?:\[[^\]]*\])?;`},
		},
	},
	{
		names: ".rb .rake Rakefile Gemfile .gemspec", keywords: "def class module attr_accessor attr_reader attr_writer alias_method define_method", before: ".:,", comments: "#", within: `^\s*(?:class|module)\s+(?:\w+::)*(\w+)`,
		patterns: []pattern{
			{"func", `^\s*(?:(?:private|public|protected|module_function|memoize)\s+)*def\s+(?P<in>[\w]+\.)?(?P<name>[\pL_]\w*[?!=]?)`},
			{"", `^\s*(?P<kind>class|module)\s+(?:\w+::)*` + name},
			{"const", `^\s*(?P<name>[A-Z]\w*)\s*=[^=~]`},
			{"func", `^\s*define_method\s*\(?\s*:(?P<name>\w+[?!=]?)`},
			{"field", `^\s*attr_(?:accessor|reader|writer)\s+(?::\w+,\s*)*:` + name},
		},
	},
	{
		names: ".php", keywords: "*", before: "&'\"", comments: "// * /* #", within: `^\s*(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+(\w+)`,
		patterns: []pattern{
			{"", `^\s*(?:(?:abstract|final|public|protected|private|static|readonly)\s+)*(?P<kind>function|class|interface|trait|enum)\s+&?` + name},
			{"const", `^\s*(?:(?:final|public|protected|private)\s+)*const\s+(?:\??\w+\s+)?(?P<name>\w+)\s*=`},
			{"const", `^\s*define\(\s*['"](?P<name>\w+)`},
			{"field", `^\s*(?:(?:public|protected|private|static|readonly|var)\s+)+(?:\??[\w|\\]+\s+)?\$(?P<name>\w+)`},
		},
	},
	{
		names: ".sh .bash .zsh .ksh .bats", keywords: "function alias export readonly local declare", comments: "#", locals: true,
		patterns: []pattern{
			{"func", `^\s*(?:function\s+(?P<name>[\w:.-]+)\s*(?:\(\))?\s*\{?)`},
			{"func", `^\s*(?P<name>[\w:.-]+)\s*\(\)`},
			{"var", `^\s*(?:(?:export|readonly|local|declare)\s+(?:-\w+\s+)*)?` + name + `=`},
			{"func", `^\s*alias\s+(?P<name>[\w-]+)=`},
		},
	},
	{
		names: ".lua", keywords: "function local", before: ".:", comments: "--", locals: true,
		patterns: []pattern{
			{"func", `^\s*(?:local\s+)?function\s+(?P<in>[\w.]+[.:])?` + name + `\s*\(`},
			{"func", `^\s*(?:local\s+)?(?P<in>[\w.]+\.)?` + name + `\s*=\s*function\b`},
			{"var", `^\s*local\s+` + name + `\s*=`},
			{"var", `^` + name + `\s*=[^=]`},
		},
	},
	{
		names: ".pl .pm .t", keywords: "sub package constant our", before: "$@%:", comments: "#",
		patterns: []pattern{
			{"", `^\s*(?P<kind>sub|package)\s+(?:\w+::)*` + name},
			{"const", `^\s*use\s+constant\s+` + name},
			{"var", `^\s*our\s+[$@%]` + name},
		},
	},
	{
		names: ".ex .exs", keywords: "def defp defmacro defmacrop defmodule defprotocol defguard defdelegate type typep opaque", before: ".", comments: "#", within: `^\s*(?:defmodule|defprotocol|defimpl)\s+([\w.]+)`,
		patterns: []pattern{
			{"", `^\s*(?P<kind>defp?|defmacrop?)\s+(?P<name>[\pL_]\w*[?!]?)`},
			{"", `^\s*(?P<kind>defmodule|defprotocol)\s+(?:\w+\.)*` + name},
			{"func", `^\s*(?:defguard|defdelegate)\s+` + name},
			{"type", `^\s*@(?:type|typep|opaque)\s+` + name},
		},
	},
	{
		names: ".erl .hrl", keywords: "define record", before: "(", comments: "%",
		patterns: []pattern{
			{"macro", `^-define\(\s*` + name}, {"struct", `^-record\(\s*` + name}, {"func", `^(?P<name>[a-z]\w*)\(.*->`},
		},
	},
	{
		names: ".hs .lhs .elm .purs", keywords: "data newtype type class alias", before: "", comments: "--",
		patterns: []pattern{
			{"", `^(?P<kind>data|newtype|class)\s+(?:.*=>\s*)?` + name}, {"type", `^type\s+(?:alias\s+|family\s+)?` + name},
			{"func", `^(?P<name>[\pL_][\w']*)\s*::?\s`},
		},
	},
	{
		names: ".ml .mli .fs .fsi .fsx", keywords: "let rec type module val and mutable inline exception", comments: "(*", locals: true,
		patterns: []pattern{
			{"func", `^\s*(?:let|and)\s+(?:rec\s+|inline\s+|mutable\s+)*(?P<name>[\pL_][\w']*)`},
			{"", `^\s*(?P<kind>type|module|val|exception)\s+(?:rec\s+|type\s+)?(?:'\w+\s+|\([^)]*\)\s+)?(?P<name>[\pL_][\w']*)`},
		},
	},
	{
		names: ".clj .cljs .cljc .el .lisp .scm .rkt", free: true, comments: ";",
		patterns: []pattern{
			{"", `^\s*\((?P<kind>defn-?|defun|defmacro|defvar|defparameter|defconstant|defclass|defgeneric|defprotocol)\s+(?:\^\S+\s+)*(?P<name>[^\s()\[\]]+)`},
			{"func", `^\s*\((?:defmulti|defmethod|cl-defun|define-minor-mode)\s+(?P<name>[^\s()\[\]]+)`},
			{"func", `^\s*\(define\s+\((?P<name>[^\s()\[\]]+)`},
			{"var", `^\s*\((?:def|defonce|define|defcustom|defconst)\s+(?:\^\S+\s+)*(?P<name>[^\s()\[\]]+)`},
			{"struct", `^\s*\((?:defrecord|deftype|defstruct|cl-defstruct|struct)\s+\(?(?P<name>[^\s()\[\]]+)`},
		},
	},
	{
		names: ".dart", keywords: "*", before: ">?", comments: slashes, typed: true, within: `^\s*(?:abstract\s+|sealed\s+|base\s+|final\s+)*(?:class|mixin|enum|extension)\s+(\w+)`,
		patterns: []pattern{
			{"", `^\s*(?:(?:abstract|sealed|base|final|interface)\s+)*(?P<kind>class|mixin|enum|extension|typedef)\s+` + name},
			{"func", `^\s*(?:(?:static|external|async|override|factory)\s+)*[\w<>\[\],.?]+\s+(?:get\s+|set\s+)?` + name + `\s*(?:\([^;]*|=>.*)(?:\{|=>|\(|,)\s*.*$`},
			{"var", `^\s*(?:(?:static|late|final|const|var)\s+)+(?:[\w<>\[\],.?]+\s+)?` + name + `\s*[=;]`},
		},
	},
	{
		names: ".zig", keywords: "fn const var", comments: "//", locals: true,
		patterns: []pattern{
			{"func", `^\s*(?:pub\s+)?(?:export\s+|extern\s+|inline\s+)*fn\s+` + name},
			{"struct", `^\s*(?:pub\s+)?const\s+` + name + `\s*=\s*(?:extern\s+|packed\s+)?(?:struct|union|enum)\b`},
			{"", `^\s*(?:pub\s+)?(?:threadlocal\s+)?(?P<kind>const|var)\s+` + name},
		},
	},
	{
		names: ".r .R", keywords: "", before: "", comments: "#",
		patterns: []pattern{{"func", `^\s*(?P<name>[\w.]+)\s*(?:<-|=)\s*function\b`}, {"var", `^(?P<name>[\w.]+)\s*(?:<-|=)\s*\S`}},
	},
	{
		names: ".jl", keywords: "function struct macro module type const mutable abstract", before: ".", comments: "#", locals: true,
		patterns: []pattern{
			{"", `^\s*(?:mutable\s+)?(?P<kind>function|struct|macro|module|const)\s+(?P<in>[\w.]+\.)?(?P<name>[\pL_][\w!]*)`},
			{"type", `^\s*(?:abstract|primitive)\s+type\s+` + name}, {"func", `^(?P<name>[\pL_][\w!]*)\([^=]*\)\s*=[^=]`},
		},
	},
	{
		names: ".proto .graphql .gql .thrift", keywords: "message service rpc enum interface type input scalar union struct extend", comments: "// # *",
		patterns: []pattern{{"", `^\s*(?:extend\s+)?(?P<kind>message|service|rpc|enum|interface|type|input|scalar|union|struct)\s+` + name}},
	},
	{
		names: ".sql", free: true, comments: "--",
		patterns: []pattern{
			{"", `(?i)^\s*create\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|virtual|unique|materialized|unlogged)\s+)*(?P<kind>table|view|function|procedure|trigger|index|type)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?["'\x60\[]?(?:\w+["'\x60\]]?\.["'\x60\[]?)?` + name},
		},
	},
	{
		names: ".tf .hcl .tfvars", free: true, comments: "# //",
		patterns: []pattern{
			{"", `^\s*(?P<kind>resource|data)\s+"(?P<in>[\w-]+)"\s+"(?P<name>[\w-]+)"`}, {"", `^\s*(?P<kind>variable|module|output|provider)\s+"(?P<name>[\w-]+)"`},
			{"key", `^(?:  )?(?P<name>[\w-]+)\s*=[^=]`},
		},
	},
	{
		names: "Makefile makefile GNUmakefile .mk", free: true, comments: "#",
		patterns: []pattern{{"var", `^(?:export\s+)?(?P<name>[\w.-]+)\s*(?:[:?+!]|::)?=`}, {"target", `^(?P<name>[\w./%-]+)(?:\s+[\w./%-]+)*\s*::?(?:[^=]|$)`}, {"macro", `^define\s+(?P<name>[\w.-]+)`}},
	},
	{
		names: ".css .scss .sass .less", free: true, comments: "// * /*",
		patterns: []pattern{
			{"macro", `^\s*@(?:mixin|function)\s+(?P<name>[\w-]+)`}, {"var", `^\s*(?:--|\$|@)(?P<name>[\w-]+)\s*:`},
			{"class", `^[^{;]*[.#](?P<name>[\pL_][\w-]*)[^{;.#]*[{,]\s*$`},
		},
	},
	{names: ".vim", keywords: "function function! command!", before: ":", comments: "\"", patterns: []pattern{{"func", `^\s*fu(?:nction)?!?\s+(?:\w:|\w+#)*` + name}}},
	{names: ".asm .s .S", free: true, comments: "; #", patterns: []pattern{{"func", `^(?P<name>[\w.$]+):`}}},
	{names: ".awk .bzl .bazel .star BUILD", keywords: "function def", comments: "#", patterns: []pattern{{"func", `^\s*(?:function|def)\s+` + name}, {"var", `^` + name + `\s*=[^=]`}}},
	{names: ".cmake CMakeLists.txt", free: true, comments: "#", patterns: []pattern{{"func", `(?i)^\s*(?:function|macro|add_executable|add_library)\s*\(\s*(?P<name>[\w-]+)`}, {"var", `(?i)^\s*set\s*\(\s*(?P<name>\w+)`}}},
	{names: ".ps1 .psm1", keywords: "function class", before: "-", comments: "#", patterns: []pattern{{"", `(?i)^\s*(?P<kind>function|class|enum)\s+(?P<name>[\w-]+)`}}},
	{names: ".md .markdown .mdx", prose: true, free: true, patterns: []pattern{{"heading", `^#{1,6}\s+(?P<name>.*\S)`}}},
	{names: ".rst .adoc", prose: true, free: true, patterns: []pattern{{"heading", `^=+\s+(?P<name>.*\S)`}}},
}
