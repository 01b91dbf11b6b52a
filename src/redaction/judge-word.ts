import { asBuffer } from "../wire/bytes.js";

/** What judges a word needs to know. */
export interface WordContext {
  readonly own: OwnWords;
  /** Whether any plain word may be told: the server is its vendor's own. */
  readonly isVendor: boolean;
}

const number = /^[-+<>=~]{0,2}\d{1,10}(?:[.,x]\d{1,10})?(?:e[-+]?\d{1,3})?(?:%|[a-z]{1,3})?$/i;
const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?)?$|^\d\d:\d\d(?::\d\d)?$/;
/** A word, or several of a type's or a member's name: `ValueError`, `additionalProperties`. */
const hump = /^[A-Za-z]?[a-z]*$|^[A-Z]+$/;
const plainWord = /^(?:[A-Z]?[a-z]{1,24}|[A-Z]{1,24})$/;
/** The same in any language, and several of them where no white space stands between words. */
const foreignWords = /^(?:\p{Lu}?[\p{Ll}\p{M}]{1,24}|[\p{Lo}\p{Lm}\p{M}，。：、；！？（）「」]{1,200})$/u;
const mediaType = /^(?:image|audio|video|text|application)\/[\w.+-]{1,64}$/i;

/** Where the path of a member begins; other names with dots in them may be hosts. */
const roots: ReadonlySet<string> = new Set(
  (
    "messages message tools tool input inputs response_format functions function choices properties items body definitions " +
    "$defs schema json_schema parameters arguments content system prompt documents text reasoning thinking metadata " +
    "usage stream model output_config stream_options tool_choice tool_calls anyOf oneOf allOf additionalProperties contents " +
    "GenerateContentRequest ChatRequest"
  ).split(" "),
);

/**
 * Whether a client may read a word of an upstream's error, which has no white space, no quotes and no brackets. It may be a
 * number, a word that errors about requests are made of, the path of a member, or what the client has sent itself.
 */
export function mayBeTold(word: string, context: WordContext): boolean {
  const core = word.replace(/^[-.:!?*=>~#]{1,8}/, "").replace(/[.:!?/*=>~-]{1,8}$/, "");
  if (!/[\p{L}\p{N}]/u.test(core)) return !/[\p{L}\p{N}\p{M}]/u.test(word);
  if (number.test(core) || date.test(core)) return true;
  if (plainWord.test(core)) return context.isVendor || isErrorWord(core.toLowerCase()) || context.own.has(core);
  if (context.isVendor && foreignWords.test(core)) return true;
  if (mediaType.test(core) && context.own.has(core)) return true;
  return isOwn(core, context.own) || isCompound(core, context.own, word.startsWith("."));
}

/** Names, ids and public addresses; not what a client may only guess: addresses and files of networks, and persons. */
function isOwn(core: string, own: OwnWords): boolean {
  if (/^https?:\/\//i.test(core)) return !isPrivate(core) && own.has(core);
  return /^[\p{L}\p{N}_.$-]+$/u.test(core) && !/^\d[\d.]*$/.test(core) && !isPrivate(core) && own.has(core);
}

/** Of a network of the operator's, as far as a name tells. */
function isPrivate(text: string): boolean {
  const host = /^(?:[a-z]+:\/\/)?([^/?#]*)/i.exec(text)?.[1] ?? "";
  if (/^[\d.:]+$|[[\]@]/.test(host)) return true;
  const name = host.replace(/:\d+$/, "");
  if (/:\/\//.test(text) && !name.includes(".")) return true;
  return /\.(?:local|internal|svc|lan|corp|intranet|intra|home|localdomain|cluster|consul|private|localhost)$/i.test(
    name,
  );
}

/** Addresses, files, hosts such as "node-7", and numbers in many parts. */
const noCompound = /[@\\%~]|\.\.|:\/\/|::|\d(?:[.:-]\d+){2}|(?:[0-9a-f]{1,4}:){4}|(?<!\b(?:utf|iso|base))[a-z]-\d/i;

/**
 * Several words and numbers with signs between them: `max_tokens=5`, `and/or`, `messages.0.role`.
 * @param isPath - it goes on with a path: `.image_url.url`, behind a bracket.
 */
function isCompound(core: string, own: OwnWords, isPath: boolean): boolean {
  if (noCompound.test(core)) return false;
  return core.split(/[=:,+&>]+/).every((part) => part === "" || isMember(part, own, isPath));
}

/** A name, the path of a member, or several words. */
function isMember(text: string, own: OwnWords, goesOn: boolean): boolean {
  if (number.test(text) || /^(?:e\.g|i\.e)$/i.test(text) || isOwn(text, own)) return true;
  const isPath = /^#?\//.test(text) || /[\p{L}_]\.|\.[\p{L}_]/u.test(text);
  const [first = "", ...others] = text.split(/[./]+/).filter((part) => part !== "" && part !== "#");
  if (isPath && !goesOn && !roots.has(first)) return false;
  return isNames(first) && others.every((part) => isNames(part) || own.has(part));
}

function isNames(text: string): boolean {
  return text.split(/[^\p{L}\p{N}]+/u).every((part) => part === "" || isKnown(part));
}

function isKnown(part: string): boolean {
  if (/^\d{1,10}[a-z]{0,2}$/i.test(part) || /^v\d{1,3}$/i.test(part)) return true;
  const lower = part.toLowerCase();
  if (isErrorWord(lower) || isErrorWord(lower.replace(/(?<=^[a-z]{2,8})\d{1,3}$/, ""))) return true;
  const humps = part.split(/(?<=[a-z])(?=[A-Z])/);
  return humps.length > 1 && humps.every((each) => hump.test(each) && isErrorWord(each.toLowerCase()));
}

/**
 * The words of which errors about requests are made, in small letters and without most endings. Whatever may be the name of
 * a server, a place or a person stands in no error that a client needs, and not here.
 */
const vocabulary: ReadonlySet<string> = new Set(
  (
    "aac about above absent accept according across act active actual adapt adaptive add addition additional adjust " +
    "advisor after again against all allof allow alone already also alternate although always among amount an animate " +
    "annotation another answer anyof anything apart api appear apply approximate are argument around array as ascii ask " +
    "aspect assign assistant associate at attach attempt audio authenticate author authorization auto available avi avif " +
    "avoid away back background bad base base64 basic batch be beam bearer because become been before begin behind below " +
    "beside beta between beyond bias big blank block bmp body bool boolean bos both bound brace bracket break browser " +
    "budget busy but by byte cache call came can cannot cap case category cause certain cfg change char character chat " +
    "check child choice choose chunk citation class classifier clean clear client close code colon column combine come " +
    "comma common compact compare compile complete complex compose compression compute condition config configure " +
    "conflict consider consist constant constrain construct consult contain content context continue contribute control " +
    "conversation convert copy correct correspond corrupt cost could couldn count crash create csv ctx current custom " +
    "cut damage data date day decimal declaration decode decrease decrypt deep default define definition defs delimiter " +
    "delta deny depend deprecate depth describe description deserialize detail detect determine developer device diarize " +
    "dict dictionary did didn differ different digit dimension direct disable disallow discard discriminator display " +
    "disposition divide do doc document docx doesn don done double download draft drop due duplicate during each earlier " +
    "echo edit effort either element else embed empty enable encode encounter encrypt end engine enough ensure entire " +
    "entity entropy entry enum enumeration eof eos epsilon equal error escape estimate even event ever exact example " +
    "exceed except exclude exclusive execution exist expand expect explicit express extra factor fail failure false far " +
    "fetch few fidelity field file fill filter final find finish first fit flac flag float fold follow for forbid " +
    "forbidden form format found four fps fragment frame free frequency from full function functionality further gb gbnf " +
    "generate get gif give given go got gpu grammar granularity graphic greater group guarantee guard guardrail guidance " +
    "guide had half handle harass harassment harm has hasn hate have haven header heic heif height help hence here high " +
    "hint history hotword hour how however html http id identifier if ignore illegal illicit image immediate implement " +
    "imply important impossible improper in inappropriate include inclusive incompatible incomplete inconsistent " +
    "incorrect increase indicate inference inform information initialize inline input insert inside inspect instance " +
    "instead instruct insufficient int integer intend interpret interval into invalid is isn iso issue it item itself " +
    "jinja join jpeg jpg json jsonl just kb keep key keyword kind know knowledge known kwargs label lack lang language " +
    "large lark last late latency layer learn least leave left len length less let level like limit line list literal ll " +
    "load loc logit logprob long look loop lora low m4a made make malform manage many map mark markdown marshal mask " +
    "match matter max maximum may mb mcp mean media medium meet megapixel member memory mention merge message meta " +
    "metadata method mib middle might mime min minimal minimum minus minute mismatch miss mkv modality mode model " +
    "moderate moderation modify mono monotonic more most mov move mp3 mp4 mpeg mpga ms msg much multimodal multipart " +
    "multiple multiply must mutate mutual name namespace narrow near necessary need negative neither nest never new next " +
    "no non none nor not note nothing nucleus null num number numeric object obtain occur of off offset oga ogg old omit " +
    "on once one oneof open openapi operation option optional opus or order original other otherwise our out output " +
    "outside over overlap overload oversize overview own pad page pair parallel param parameter parent parse part " +
    "partial pass past path pattern payload pcm pdf penalty per percent perform period permit pixel place plain plan " +
    "please plural png point policy position positive possible post pre preamble precede precondition predict prefer " +
    "prefill prefix presence present pretty prevent preview previous prior priority probability problem proceed process " +
    "produce profile program prohibit prompt proper property provide purpose put px quality query quote random range " +
    "rank rate rather ratio re reach read real reason receive recognize recursion recursive redact reduce ref reference " +
    "refusal refuse regard regex regexp regular reject relate release remain remove rename render repeat repetition " +
    "replace represent request require rerank reserve resize resolution resolve respect respond response responsible " +
    "rest restrict result retention retry return rewrite risk role root round row rule run safety same sample satisfy " +
    "save say scale schema score screenshot search second section see seem select self send sensitive sent separate " +
    "sequence serialize serve set several sexual shape shell shift short shorten should shouldn show shown side " +
    "signature silence similar simple since single size skip slash small snapshot so some something sort source space " +
    "speak specific specify speculative speech speed spell split srt stage standard start state status step stereo still " +
    "stop store stream strength strict string strip struct structure style sub such suffix sum summary supply support " +
    "sure surrogate svg switch symbol syntax system tag take taken target temperature template terminate text tfs than " +
    "that the their them then there these think third this those though threaten three threshold through thus tiff time " +
    "timeout title to together token tokenizer too tool toolset top topic total toward trace trail transcribe transcript " +
    "transform translate translation treat trigger true truncate truncation try tts turn two type typical undefined " +
    "under unicode unique unit unless unprocessable unreadable unsupported until up update upload uri url us usage use " +
    "usual utf utf8 valid validate value variant various ve vector verbosity version very via video view violate " +
    "violation violence vision visit vocabulary voice volume vtt wait want was wasn wav way we webm webp webvtt well " +
    "were what when where whereas whether which while white whitespace whole whose why wide width will window with " +
    "within without word work would wouldn wrap write wrong xhigh xml year yet yield you your zero"
  ).split(" "),
);

/** With which a word is known, too. An `e`, a `y` or a doubled letter may give way to them. */
const endings = [
  "s",
  "es",
  "ies",
  "d",
  "ed",
  "ing",
  "ings",
  "ly",
  "y",
  "er",
  "or",
  "able",
  "ment",
  "ion",
  "ions",
  "ation",
];

/** Whether a word, in small letters, is one that errors about requests are made of. */
function isErrorWord(word: string): boolean {
  if (word.length < 2 || vocabulary.has(word)) return true;
  if (word.length > 20) return false;
  if (word.length > 5 && word.startsWith("un") && isErrorWord(word.slice(2))) return true;
  return endings.some((ending) => word.endsWith(ending) && isStem(word.slice(0, -ending.length)));
}

function isStem(stem: string): boolean {
  if (stem.length < 2) return false;
  if (vocabulary.has(stem) || vocabulary.has(`${stem}e`) || vocabulary.has(`${stem}ate`)) return true;
  return stem.endsWith("i") ? vocabulary.has(`${stem.slice(0, -1)}y`) : vocabulary.has(`${stem}y`) || isDoubled(stem);
}

function isDoubled(stem: string): boolean {
  return stem.at(-1) === stem.at(-2) && vocabulary.has(stem.slice(0, -1));
}

/** So many words are looked for in the request, and fewer in a long one: so many bytes are searched in all. */
const mostLookups = 32;
const mostSearched = 128 * 1024 * 1024;
/** No longer word is looked for: it takes longest. */
const longestWord = 512;
/** So long a word is not in a request by chance. */
const distinctLength = 8;

/** What of an upstream's words the client has sent itself. */
interface OwnWords {
  /** Whether the request has the word: a short one as a whole text or name. */
  has(word: string): boolean;
}

export function ownWords(request: Uint8Array | undefined): OwnWords {
  const buffer = request === undefined ? undefined : asBuffer(request);
  let left = Math.min(mostLookups, Math.floor(mostSearched / Math.max(1, buffer?.length ?? 1)));
  return {
    has(word) {
      if (buffer === undefined || word.length < 2 || word.length > longestWord || left-- <= 0) return false;
      return buffer.includes(word.length < distinctLength ? JSON.stringify(word) : word);
    },
  };
}
