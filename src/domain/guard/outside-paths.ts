import { absolute, checkWrite, isInside, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { changesNothing } from "./read-only-programs.ts";
import { declared } from "./shell/hidden-code.ts";
import type { Invocation } from "./shell/invocations.ts";
import { isOption, type ShellWord } from "./shell/syntax.ts";
import type { Denial } from "./tool-use.ts";
import { hasOwnTargets } from "./writing-programs.ts";

/**
 * A program may write to any path that it is given. So a path outside the worktree is denied, unless the program is known to
 * only read, or a rule knows exactly which paths it writes to. Paths of the system are allowed: agents cannot write there.
 */
export function checkOutside(invocation: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const isJudgedHere =
    !reads.includes(invocation.name) && !hasOwnTargets(invocation.name) && !changesNothing(invocation);
  if (!isJudgedHere) return undefined;
  return checkWords(notOnlyRead(invocation), invocation, policy, places);
}

/** The words without directories that compilers look into, and without what an option names to be read. */
function notOnlyRead({ name, args }: Invocation): readonly ShellWord[] {
  const onlyChecks = name === "tsc" && args.some(({ text }) => text === "--noEmit");
  const isRead = (text: string): boolean =>
    (!followsSettings.includes(name) && namesInput.test(text)) || (onlyChecks && /^(-p|--project)$/.test(text));
  return args.filter(({ text }, at) => {
    const before = args[at - 1]?.text ?? "";
    return !/^-[IL]/.test(text) && !/^-[IL]$/.test(before) && !isRead(text.replace(/=.*$/s, "")) && !isRead(before);
  });
}

const namesInput =
  /^--(config|config-file|rcfile|settings|schemas?|schema-?file|ignore-path|ignore-file|template|reference|baseline|input|include|proto_path|ca-?cert|cert|load-path)$/;

/** Where their settings lie, these programs write caches, reports and what they make. */
const followsSettings: readonly string[] =
  "jest vitest pytest tsc vite webpack rollup parcel next nuxt cargo nyc c8 playwright cypress karma make cmake tox nox docker podman".split(
    " ",
  );

/** The same for variables that say where something is to be written. */
export function checkOutputVariables(invocation: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const { name, args, assignments } = invocation;
  const given = [...assignments, ...declared(name, args)].filter((each) => namesOutput.test(each.name));
  return checkWords(
    given.map(({ value }) => fromHome(value)),
    invocation,
    policy,
    places,
  );
}

/** `$HOME` as a tilde: no line may set it. */
function fromHome(word: ShellWord): ShellWord {
  const text = word.text.replace(/^\$(HOME|\{HOME\})(?=\/|$)/, "~");
  return text === word.text || /[$`]/.test(text) ? word : { ...word, text, dynamic: false, home: true };
}

function checkWords(
  words: readonly ShellWord[],
  { cwd }: Invocation,
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  for (const word of words.flatMap(pathsIn)) {
    const path = absolute(word, cwd, places.home);
    const denied = path === undefined ? undefined : checkWrite(path, policy, places, word);
    if (path !== undefined && denied?.rule === "boundary" && isOfPeople(path, policy, places)) return denied;
  }
  return undefined;
}

const namesOutput =
  /(TARGET_DIR|OUT(PUT)?(_DIR|_FILE|_PATH)?|DESTDIR|CACHE(_DIR)?|COVERAGE_FILE|GOBIN|_LOG(_FILE|_DIR)?)$|^(GIT_TRACE\w*|NODE_V8_COVERAGE|NODE_REDIRECT_WARNINGS|TMPDIR|TEMP|TMP|SSLKEYLOGFILE|GOFLAGS|GOCOVERDIR|GOTMPDIR|PYTHONPYCACHEPREFIX|LESSHISTFILE|HISTFILE)$/i;

/** Programs that only read, beside those of roles that change nothing; and those of which the program they run is judged. */
const reads: readonly string[] =
  `shellcheck nm objdump readelf ldd otool colordiff wdiff difft delta eza exa lsd dust ncdu identify ffprobe mediainfo b2sum
  crc32 hexyl scc xmllint ajv xsv qsv csvtool csvlook csvstat csvcut mlr diffstat jsonschema check-jsonschema typos yamllint hadolint actionlint jsonlint glow mdcat source . npx bunx pnpx docker podman`.split(
    /\s+/,
  );

/** The absolute and climbing paths in a word, also behind an equals sign or the letter of an option. A word with spaces is a text. */
function pathsIn(word: ShellWord): readonly ShellWord[] {
  // Braces alone stand for several words, all of which are written out.
  const isUnknown = word.dynamic && !/^[^$`]*\{[^$`]*$/.test(word.text);
  if (isUnknown || /\s/.test(word.text)) return [];
  const text = isOption(word) ? word.text.replace(/^-[A-Za-z](?=[/.~])|^--?[\w-]+(?==)/, "") : word.text;
  return text
    .split(/[=:,@{}]/)
    .filter((part) => leadsAway.test(part))
    .map((part) => ({ ...word, text: part, dynamic: false, home: /^~(\/|$)/.test(part) }));
}

const leadsAway = /^(~(\/|$)|\/)|(^|\/)\.\.(\/|$)/;

/** Is the path in the project, which has the worktrees of other agents, or in the home of a user? */
function isOfPeople(path: string, { root, state }: GuardPolicy, places: Places): boolean {
  const real = places.realPath(path);
  const own = [root, state, places.home ?? root].map((place) => places.realPath(place));
  return own.some((place) => isInside(real, place) || isInside(place, real)) || /^\/(home|Users|root)(\/|$)/.test(real);
}
