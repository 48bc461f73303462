import { isSecretName } from "../agent/environment.ts";
import { isAssignedSecret, pointer, withoutAssigned } from "./assigned-secrets.ts";
import { longWord, moreTokens, type TokenShapes, tokens } from "./token-shapes.ts";

/** What stands in the place of a secret. */
export const redacted = "[REDACTED]";

/** Takes the secrets out of a text. A text without secrets, such as its own output, stays unchanged. */
export type Redact = (text: string) => string;

/**
 * How much is taken out.
 * said      what programs print: every shape of a secret, and what is assigned to a name that reads like one
 * composed  what people and agents write to each other: an assigned value, or a password in an address, only when it
 *           looks random, because code and examples must stay as they were written
 */
export type Strictness = "said" | "composed";

/** One function for each strictness. They look at the secrets that are known when they are called. */
export type Redaction = Readonly<Record<Strictness, Redact>>;

/** `values` gives the same list again as long as nothing changed. */
export function redactionOf(values: () => readonly string[]): Redaction {
  let known: readonly string[] | undefined;
  let made: Partial<Record<Strictness, Redact>> = {};
  const as =
    (strictness: Strictness): Redact =>
    (text) => {
      const current = values();
      if (current !== known) made = {};
      known = current;
      made[strictness] ??= redactor(current, strictness);
      return made[strictness](text);
    };
  return { said: as("said"), composed: as("composed") };
}

/** For a project that wants everything as it was written. */
export const noRedaction: Redaction = { said: (text) => text, composed: (text) => text };

/** The values in an environment whose names say that they are secret. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !isSecretName(name) || pointer.test(name)) return [];
    return value.split(/\r?\n/).filter(isTelling);
  });
}

/** Shorter values are ordinary words, and would be taken out all over a text. */
const shortestValue = 8;
const ordinary = /^(?:[a-z]{1,15}|[A-Z]{1,15}|[A-Z][a-z]{1,14}|\d{1,11}|-----.*|(?:\/|~\/|\.{1,2}\/).*)$/;

/** Not a word, a small number or a path, of which any text may be full. */
const isTelling = (value: string): boolean => value.trim().length >= shortestValue && !ordinary.test(value.trim());

/**
 * Takes out these values, every token, private key and password in an address by its shape, and every value assigned to
 * a name that reads like a secret. Give it whole lines: half a token has no shape. Its time grows linearly with the
 * text, because agents choose the text and the engine reads it.
 */
export function redactor(values: readonly string[], strictness: Strictness = "said"): Redact {
  const withoutValues = valueRemover(values);
  return (text) => {
    let left = withoutValues(text);
    if (left.includes("-----")) left = left.replace(privateKey, redacted).replace(endOfPrivateKey, redacted);
    left = withoutTokens(left, tokens());
    if (longWord.test(left)) left = withoutTokens(left, moreTokens());
    if (left.includes("eyJ")) left = left.replace(dotted, withoutWebTokens);
    if (left.includes("://")) left = withoutPasswords(left, strictness);
    if (left.includes("-u")) left = left.replace(userFlag, withoutUserPassword);
    if (left.includes("-p")) left = left.replace(databaseFlag, withoutDatabasePassword);
    if (hasGivenPassword.test(left)) left = left.replace(givenPassword, withoutGivenPassword);
    if (left.includes("=")) left = left.replace(signedAddress, withoutGivenPassword);
    if (left.includes("auth")) left = left.replace(storedLogin, withoutGivenPassword);
    if (left.includes("</") || left.includes("value="))
      left = left.replace(element, withoutElement).replace(pair, withoutElement);
    if (left.includes("ookie")) left = left.replace(cookies, withoutSessions);
    return withoutAssigned(left, strictness, redacted);
  };
}

function withoutTokens(text: string, { hints, shapes }: TokenShapes): string {
  if (!hints.some((hint) => text.includes(hint))) return text;
  let left = text;
  for (const shape of shapes) {
    if (shape.hints.some((hint) => left.includes(hint)))
      left = left.replace(shape.pattern, (whole) => (shape.isOne?.(whole) === false ? whole : redacted));
  }
  return left;
}

function valueRemover(values: readonly string[]): Redact {
  const known = [...new Set(values)].filter((value) => value.length >= shortestValue).flatMap(spellings);
  if (known.length === 0) return (text) => text;
  // The longest first: one may be the beginning of another.
  const literal = [...new Set(known)].toSorted((a, b) => b.length - a.length).map((value) => RegExp.escape(value));
  const any = new RegExp(literal.join("|"), "g");
  return (text) => text.replace(any, redacted);
}

/** As it is, inside of a JSON text, inside of a JSON text in a JSON text, and in an address. */
function spellings(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const twice = JSON.stringify(inJson).slice(1, -1);
  return [value, inJson, twice, encodedInAddress(value)];
}

function encodedInAddress(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    // Half of a surrogate pair cannot be in an address.
    return value;
  }
}

/**
 * The same for data: every text in it, and texts that are assigned by their key. A text that is JSON is looked through
 * as JSON, so that it stays JSON.
 */
export function redactData<T>(data: T, redact: Redact, strictness: Strictness = "said"): T {
  // Nearly all data has no secret. One look at its text is many times faster than one at each of its parts.
  const text = JSON.stringify(data);
  return text === undefined || redact(text) === text ? data : (inside(data, redact, strictness, "", 0) as T);
}

const deepest = 100;

function inside(data: unknown, redact: Redact, strictness: Strictness, key: string, depth: number): unknown {
  if (typeof data === "string") {
    if (key !== "" && isAssignedSecret(key, data, strictness)) return redacted;
    return redactText(data, redact, strictness, depth);
  }
  if (typeof data !== "object" || data === null) return data;
  if (depth > deepest) return redactText(JSON.stringify(data), redact, strictness, depth);
  if (Array.isArray(data)) {
    const all = data.map((one: unknown) => inside(one, redact, strictness, "", depth + 1));
    return all.some((one, at) => one !== data[at]) ? all : data;
  }
  let changed = false;
  const made: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(data)) {
    const kept = inside(value, redact, strictness, name, depth + 1);
    const shown = redact(name);
    if (kept !== value || shown !== name) changed = true;
    made[shown] = kept;
  }
  return changed ? made : data;
}

function redactText(text: string, redact: Redact, strictness: Strictness, depth: number): string {
  const data = depth > deepest ? undefined : parsed(text);
  if (data === undefined) return redact(text);
  const left = inside(data, redact, strictness, "", depth + 1);
  return left === data ? text : JSON.stringify(left);
}

function parsed(text: string): object | undefined {
  const [first, last] = [text.charCodeAt(0), text.trimEnd().at(-1)];
  if (!(first === 0x7b && last === "}") && !(first === 0x5b && last === "]")) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    // It only looks like JSON.
    return undefined;
  }
}

/** Where a private key begins whose end is not in the text yet; -1 when there is none. */
export function openKeyAt(text: string): number {
  const begin = text.lastIndexOf("-----BEGIN ");
  if (begin < 0 || !beginOfPrivateKey.test(text.slice(begin, begin + 64))) return -1;
  return endOfBlock.test(text.slice(begin)) ? -1 : begin;
}

const beginOfPrivateKey = /^-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;
const endOfBlock = /-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;
/**
 * Behind its first line comes a line end, as it is or inside of a JSON text, or the key itself where lines were joined.
 * Code that only names the first line of keys is no key.
 */
const privateKey =
  /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\r?\n|(?:\\+r)?\\+n| (?=[A-Za-z0-9+/=]{16}))(?:[^-]|-(?!----))*(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?/g;
/** The rest of a key whose beginning was left out. */
const endOfPrivateKey = /^(?:[A-Za-z0-9+/=]{16,}\r?\n)*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/;

/** Candidates for a JSON web token: three parts with dots between them. */
const dotted = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+){2,}/g;

/** Such a token begins with `eyJ`, perhaps behind other text. */
function withoutWebTokens(text: string): string {
  const parts = text.split(".");
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? "";
    const begin =
      at + 2 < parts.length
        ? (/(?<=^(?:[nrt]|[0-9]{0,3}m)?|[^A-Za-z0-9_])eyJ/.exec(part)?.index ?? part.length)
        : part.length;
    const isToken = part.length - begin >= 11 && (parts[at + 1] ?? "").length >= 8;
    kept.push(isToken ? `${part.slice(0, begin)}${redacted}` : part);
    if (isToken) at += 2;
  }
  return kept.join(".");
}

const password = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/:@"'\\]{0,256})(:?)([^\s/@"'\\]{0,1024})@/gi;

/** `scheme://user:password@host`, and `scheme://token@host`. */
function withoutPasswords(text: string, strictness: Strictness): string {
  return text.replace(password, (whole, scheme: string, user: string, colon: string, said: string) => {
    if (colon === "") return isAssignedSecret("TOKEN", user, "composed") ? `${scheme}${redacted}@` : whole;
    return isAssignedSecret("PASSWORD", said, strictness) ? `${scheme}${user}:${redacted}@` : whole;
  });
}

/** `curl -u name:password`. */
const userFlag = /(?<=^|[\s"'])(-u|--user)([ =]["']?)([^\s:"'\\]{1,64}):([^\s"'\\]{3,256})/g;
const withoutUserPassword = (whole: string, flag: string, space: string, user: string, said: string): string =>
  isAssignedSecret("PASSWORD", said, "composed") ? `${flag}${space}${user}:${redacted}` : whole;

/** `mysql -ppassword`: the letter is followed by the password at once. */
const databaseFlag =
  /(?<=^|[^A-Za-z0-9_]|\\[nrtbf])((?:mysql|mariadb)(?:-?(?:dump|admin|import|check|show))?(?: [^\s|;&]{1,64}){0,8}? -p["']?)([^\s"'\\|;&]{3,256})/g;
const withoutDatabasePassword = (whole: string, before: string, said: string): string =>
  isAssignedSecret("PASSWORD", said, "composed") ? `${before}${redacted}` : whole;

/** The line of a request or an answer with cookies. Cookies that identify a person are taken out. */
const cookies = /(?<=^|[^A-Za-z0-9_]|\\[nrtbf])((?:set-)?cookie["']?\s{0,4}:\s{0,4}["']?)([^\r\n"'\\]{1,4096})/gi;
const withoutSessions = (_: string, before: string, all: string): string =>
  `${before}${all.replace(session, (whole: string, name: string, said: string) => (isAssignedSecret("TOKEN", said, "composed") ? `${name}=${redacted}` : whole))}`;
const session = /\b([\w.-]{0,40}(?:sess|sid|auth|jwt|remember|login)[\w.-]{0,40})=([^;\s,]{8,4096})/gi;

/** Programs that are given a password behind a letter, and what some of them have before it. */
const hasGivenPassword = /sshpass|docker|podman|redis-cli|mongo|zip|ldap|smbclient|pass:|@tcp\(|@unix\(/;
const givenPassword =
  /(?<=^|[^A-Za-z0-9_]|\\[nrtbf])(sshpass -p ?|(?:docker|podman) login(?: [^\s|;&]{1,64}){0,8}? -p |redis-cli(?: [^\s|;&]{1,64}){0,8}? -a |mongo(?:sh|dump|restore|export|import)?(?: [^\s|;&]{1,64}){0,8}? -p |7?zip(?: [^\s|;&]{1,64}){0,8}? -P ?|ldap[a-z]{3,8}(?: [^\s|;&]{1,64}){0,8}? -w ?|smbclient(?: [^\s|;&]{1,64}){0,8}? -U [^\s%]{1,64}%|pass:|[\w.-]{1,64}:(?=[^\s:@"'\\]{1,64}@(?:tcp|unix)\())(["']?[^\s"'\\|;&@]{3,256})/g;
const withoutGivenPassword = (whole: string, before: string, said: string): string =>
  isAssignedSecret("PASSWORD", said, "composed") ? `${before}${redacted}` : whole;

/** Whoever has such an address has what it leads to. */
const signedAddress = /([?&;](?:sig|signature|x-amz-signature|x-goog-signature|code)=)([A-Za-z0-9%+/=._~-]{16,4096})/gi;

/** The login of a registry, as npm and docker keep it. */
const storedLogin =
  /((?:(?<=^|[^A-Za-z0-9]|\\[nrtbf])_auth\s{0,4}=\s{0,4}|"auth\\{0,7}"\s{0,4}:\s{0,4})\\{0,7}["']?)([A-Za-z0-9+/=_-]{12,4096})/g;

/** `<password>x</password>`, and `key="ApiKey" value="x"`. */
const element = /(<([\w.-]{1,64})>)([^<>\s]{4,4096})(?=<\/)/g;
const pair = /(\b(?:key|name)=\\{0,7}"([\w.-]{1,64})\\{0,7}"\s{1,8}value=\\{0,7}")([^"\\\s]{4,4096})/gi;
const withoutElement = (whole: string, before: string, name: string, said: string): string =>
  isAssignedSecret(name, said, "composed") ? `${before}${redacted}` : whole;
