import type { Strictness } from "./redact.ts";

/**
 * Finds values that are assigned to a name that reads like a secret: `API_KEY=x`, `"password": "x"`, `x-api-key: x`,
 * `--token x`, `Authorization: Bearer x`. The names are found first. The text around each name is looked at no farther
 * than a name is long, so no text is read again and again.
 */
export function withoutAssigned(text: string, strictness: Strictness, instead: string): string {
  let kept = "";
  let from = 0;
  secretWord.lastIndex = 0;
  for (let match = secretWord.exec(text); match !== null; match = secretWord.exec(text)) {
    const { index: at, 0: word } = match;
    const value = /^bearer/i.test(word)
      ? afterScheme(text, at + word.length)
      : assignedAt(text, at, at + word.length, strictness);
    if (value === undefined || value.begin < from) continue;
    kept += `${text.slice(from, value.begin)}${instead}`;
    from = value.end;
    secretWord.lastIndex = Math.max(secretWord.lastIndex, from);
  }
  return kept + text.slice(from);
}

/** Is this the value of a secret, when it is assigned to this name? */
export function isAssignedSecret(name: string, value: string, strictness: Strictness): boolean {
  // What looks random is longer. Keys of our own data, such as `dedupeKey`, end here without a look at their words.
  if (value.length < shortestRandom && strictness === "composed") return false;
  const kind = kindOf(name);
  if (kind === "none" || isReference(value)) return false;
  return kind === "loud" && strictness === "said" ? !isPlain(value) : looksRandom(value);
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

const secretWord = /key|token|secret|pass|credential|pwd|_pat(?![a-z])|authorization|bearer\s/gi;
const longestName = 64;
const longestValue = 4096;

function assignedAt(text: string, wordBegin: number, wordEnd: number, strictness: Strictness): Span | undefined {
  const begin = nameBegin(text, wordBegin);
  let end = wordEnd;
  while (end - wordEnd < longestName && isNameChar(text.charCodeAt(end))) end++;
  const name = text.slice(begin, end);
  // A test that passed: `--- PASS: TestLogin2`. Behind a colour the name begins with the end of that.
  if (/^(?:\d*m)?PASS$/.test(name) && text[end] === ":") return undefined;
  const sign = signAfter(text, end, name);
  if (sign === undefined) return undefined;
  if (/authorization$/i.test(name)) return afterScheme(text, sign.end);
  const value = valueAt(text, sign.end);
  if (value === undefined) return undefined;
  const said = text.slice(value.begin, value.end);
  // `TOKEN = nextToken` is code; `TOKEN=nextToken` is what a shell prints, and `"TOKEN": "x"` what a file has.
  const isCode = sign.spaced && !value.quoted;
  return isAssignedSecret(name, said, isCode ? "composed" : strictness) ? value : undefined;
}

function nameBegin(text: string, at: number): number {
  let begin = at;
  while (at - begin < longestName && isNameChar(text.charCodeAt(begin - 1))) begin--;
  // The letter of a line end that is written as two characters belongs to no name.
  return text[begin - 1] === "\\" && begin < at ? begin + 1 : begin;
}

/** Letters, digits, `_` and `-`. */
const isNameChar = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 45;

/** What makes an assignment, perhaps behind the quote that ends the name. */
const assigns = /(?:\\{0,7}["'`])?(\s{0,4})(=>|:=|=|:)(\s{0,4})/y;
const keeps = /(?:^|[^A-Za-z0-9_]|\\[nrtbf])(?:setenv|set(?: -\w{1,4})?) $/;
const longestKeep = 12;
const flagSign = /\s{1,4}(?!-)/y;

function signAfter(
  text: string,
  at: number,
  name: string,
): { readonly end: number; readonly spaced: boolean } | undefined {
  assigns.lastIndex = at;
  const found = assigns.exec(text);
  if (found !== null) {
    const [whole, before = "", sign, after = ""] = found;
    return { end: at + whole.length, spaced: sign !== "=" || before !== "" || after !== "" };
  }
  // A flag of a program, a line of a `.netrc` file, or what a shell or a program is told to keep.
  const isKept = keeps.test(text.slice(Math.max(at - name.length - longestKeep, 0), at - name.length));
  if (!isKept && !name.startsWith("--") && !/^passw(?:or)?d$/i.test(name)) return undefined;
  flagSign.lastIndex = at;
  const space = flagSign.exec(text);
  return space === null ? undefined : { end: at + space[0].length, spaced: true };
}

/** A quote, perhaps inside of a JSON text. The second form is a quote inside of a quoted word of a shell. */
const openingQuote = /\\{0,7}["`]|'(?:\\{1,8}'')?/y;
/** A backslash before `n`, `r`, `t` or a quote is the end of a line, or of a text, inside of a JSON text. */
const bareValue = /(?:[^\s"'`,;\\]|\\(?![nrt"'\\])){1,4096}/y;

function valueAt(text: string, at: number): (Span & { readonly quoted: boolean }) | undefined {
  openingQuote.lastIndex = at;
  const quote = openingQuote.exec(text);
  if (quote !== null) {
    const begin = at + quote[0].length;
    const line = text.slice(begin, begin + longestValue);
    const end = line.indexOf(quote[0].startsWith("'") ? "'" : quote[0]);
    // Without its end the line is all that is known of it.
    const length = end >= 0 ? end : (/[\r\n]/.exec(line)?.index ?? line.length);
    return length === 0 ? undefined : { begin, end: begin + length, quoted: true };
  }
  bareValue.lastIndex = at;
  const bare = bareValue.exec(text);
  return bare === null ? undefined : { begin: at, end: at + bare[0].length, quoted: false };
}

const credentials =
  /\\{0,7}["'`]?\s{0,4}(?:(?:bearer|basic|token|digest|negotiate|apikey|ssws|key)\s{1,4})?([A-Za-z0-9._~+/=:-]{8,4096})/iy;

function afterScheme(text: string, at: number): Span | undefined {
  credentials.lastIndex = at;
  const found = credentials.exec(text);
  const said = found?.[1];
  if (found === null || said === undefined || isReference(said) || /^[a-z]+$/i.test(said)) return undefined;
  const end = at + found[0].length;
  return { begin: end - said.length, end };
}

/** `loud`: a variable of a shell. `quiet`: a name in code, of which there are many that hold no secret. */
function kindOf(name: string): "loud" | "quiet" | "none" {
  if (loudName.test(name)) return pointer.test(name) ? "quiet" : "loud";
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_-]+/)
    .filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  if (lastWords.has(last) || words.join("-") === "client-key-data") return "quiet";
  return last === "key" && beforeKey.has(words.at(-2) ?? "") ? "quiet" : "none";
}

const loudName =
  /^(?=[A-Z0-9_]+$)(?:(?:[A-Z0-9_]*_)?(?:APIKEY|KEY|TOKEN|SECRET|PASSPHRASE|CREDENTIALS?|PWD)|[A-Z0-9_]*PASSW(?:OR)?D)(?:_[A-Z0-9_]*)?$/;
/** Says where a secret is, or which one it is. */
export const pointer = /_(?:FILE|PATH|DIR|ID|NAME|URL|URI|HOST|PORT|SOCK)$/i;
const lastWords = new Set([
  "token",
  "secret",
  "password",
  "passwd",
  "passphrase",
  "pass",
  "sshpass",
  "pat",
  "pwd",
  "apikey",
  "credential",
  "credentials",
  "authtoken",
]);
const beforeKey = new Set([
  "api",
  "access",
  "secret",
  "private",
  "auth",
  "account",
  "signing",
  "encryption",
  "master",
  "subscription",
]);

/** Stands for a value that is elsewhere, or for none. */
const reference = /^(?:[$<{%*[(]|\.\.\.|(?:process|import|os|env|config|settings|self|this)\.|(.)\1*$)/;
const isReference = (value: string): boolean => value === "" || reference.test(value);

const plain = /^(?:true|false|null|nil|none|undefined|yes|no|on|off|\d{1,6})$/i;
const isPlain = (value: string): boolean => plain.test(value);

const shortestRandom = 8;

/** Letters and digits mixed: no word, no number, no address, no call, and no branch of ours, as in `pass: overstory/b1/T1`. */
const looksRandom = (value: string): boolean =>
  value.length >= shortestRandom &&
  /\d/.test(value) &&
  /[A-Za-z]/.test(value) &&
  !/[\s(){}]|:\/\//.test(value) &&
  !/^(?:[~.]?\/|overstory\/|v?\d+(?:\.\d+)+$)/.test(value);
