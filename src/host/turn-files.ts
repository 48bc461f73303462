import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../domain/failure.ts";
import { scratchOf } from "../domain/guard/policy.ts";
import type { Redact } from "../domain/text/redact.ts";
import type { OpenInput, TurnFiles } from "../ports/agent-process.ts";
import type { AgentAnswer, PlannedFile, PlannedLink } from "../ports/runtime.ts";
import {
  errorCode,
  expectRegular,
  lstatIfThere,
  makeWithin,
  openRegular,
  readText,
  writeAtomically,
} from "./file-access.ts";
import { gitLinkIn, textOf } from "./git/places.ts";
import { redactFiles } from "./redact-files.ts";
import { compressOutput, outputName, turnOutput } from "./turn-output.ts";

const tailBytes = 2_000;

const mirrorAt = (state: string, agentName: string): string => join(state, "agents", agentName, "turn.pid");

/** `redact`: null where everything is kept as it came. */
export function turnFiles(state: string, redact: Redact | null = null): TurnFiles {
  const paths = (logDir: string) => ({ output: join(logDir, outputName), error: join(logDir, "stderr.log") });
  return {
    paths,
    create: (logDir, { input, files, opening }, { home, input: stays }) => {
      makeWithin(logDir, 4);
      // Both are there before the agent starts, so that the system can keep it from replacing them.
      for (const path of Object.values(paths(logDir))) closeSync(openSync(path, "a", 0o600));
      writeFileSync(join(logDir, "input.json"), input, { mode: 0o600 });
      if (opening !== undefined) writeFileSync(join(logDir, "opening.json"), opening, { mode: 0o600 });
      for (const file of files) placeFile(file, { turn: logDir, home });
      if (stays === "open") makeOpenInput(logDir);
    },
    redact: async (logDir) => {
      if (redact !== null) await redactFiles(logDir, redact);
    },
    openingOf: (logDir) => {
      const path = join(logDir, "opening.json");
      return existsSync(path) ? textAt(path) : "";
    },
    openInput,
    readFor: (cwd, path) => served(() => textAt(resolve(cwd, path))),
    writeFor: (cwd, path, text) =>
      served(() => {
        writeAtomically(resolve(cwd, path), text);
        return "";
      }),
    outputOf: (logDir) => turnOutput(paths(logDir).output),
    compress: (logDir) => compressOutput(paths(logDir).output),
    errorTail: (logDir) => tail(paths(logDir).error),
    mirrorPid: (agentName, mirror) => writeAtomically(mirrorAt(state, agentName), `${JSON.stringify(mirror)}\n`, 0o600),
    endMirror: (agentName, turnId) => {
      const path = mirrorAt(state, agentName);
      if (readText(path)?.includes(JSON.stringify(turnId)) === true) rmSync(path, { force: true });
    },
    readEnvironment: (path) => JSON.parse(textAt(path)) as Record<string, string>,
    scratch: (agentName) => {
      const path = scratchOf(state, agentName);
      makeWithin(path, 4);
      return path;
    },
    mergeRules: (worktreePath) => {
      const own = join(worktreePath, ".git");
      const link = gitLinkIn(own);
      const isClone = lstatIfThere(own)?.isDirectory() === true;
      const linked = isClone ? own : link === undefined ? undefined : resolve(worktreePath, link);
      if (linked === undefined || !existsSync(linked)) return {};
      const path = join(state, "run", "merge-rules.gitconfig");
      if (textOf(path) !== mergeRules) writeAtomically(path, mergeRules, 0o600);
      // A condition, so that no other repository in which the agent's programs work has these rules.
      const gitDir = realpathSync(linked).replaceAll(/[[\]*?\\]/g, "\\$&");
      return {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: `includeIf.gitdir:${gitDir}.path`,
        GIT_CONFIG_VALUE_0: path,
      };
    },
  };
}

/**
 * Git's settings for a merge driver, which is asked about files to which the project's attributes give none. What no rule
 * settles gets the usual conflict marks. Git gives up the whole merge when a driver ends with more than 128, so whatever
 * cannot be merged counts as one conflict. The result takes the place of our side in one step: a failure leaves it whole.
 */
const mergeRules = `[merge]
	default = overstory
[merge "overstory"]
	name = merge by rule, as the merge queue does
	driver = "ov merge-file %O %A %B --path %P >%A.ov 2>/dev/null && mv -f %A.ov %A || { rm -f %A.ov; git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B || exit 1; }"
	recursive = text
`;

/** Takes away what an agent kept to throw away, and the home that a confined agent had, with copies of logins. What cannot be deleted must not keep the agent from being released. */
export function removeScratch(state: string, agentName: string): void {
  try {
    rmSync(scratchOf(state, agentName), { recursive: true, force: true });
    rmSync(confinedHome(state, agentName), { recursive: true, force: true });
  } catch (error) {
    // An agent may have left a directory without the right to write; the files stay, and are no part of the work.
    if (errorCode(error) === undefined) throw error;
  }
}

/** Where a confined agent's program keeps what it writes to its home: conversations and caches. */
export const confinedHome = (state: string, agentName: string): string => join(state, "agents", agentName, "home");

function textAt(path: string): string {
  expectRegular(path);
  return readFileSync(path, "utf8");
}

/** A file that is missing or may not be used is an answer, not a failure of the turn. */
function served(work: () => string): AgentAnswer {
  try {
    return { kind: "granted", text: work() };
  } catch (error) {
    if (error instanceof Failure) return { kind: "refused", reason: error.message };
    const code = errorCode(error);
    if (code === undefined) throw error;
    return { kind: "refused", reason: error instanceof Error ? error.message : code };
  }
}

/** Writes a missing file. Existing files in a home belong to its user and stay as they are. */
function placeFile(file: PlannedFile, dirs: Readonly<Record<PlannedFile["in"], string>>): void {
  const path = within(dirs[file.in], file.path);
  if ("to" in file) placeLink(path, within(dirs.home, file.to), file);
  else if (file.in === "turn" || !existsSync(path)) writeAtomically(path, file.text, 0o600);
}

/** A link that an earlier try left is made anew: the home may be another one. */
function placeLink(path: string, to: string, { isDirectory }: Pick<PlannedLink, "isDirectory">): void {
  if (isDirectory) mkdirSync(to, { recursive: true, mode: 0o700 });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  symlinkSync(to, path);
}

function within(dir: string, planned: string): string {
  const path = resolve(dir, planned);
  if (!path.startsWith(`${resolve(dir)}/`)) throw new Error(`the planned file ${planned} lies outside of ${dir}`);
  return path;
}

function tail(path: string): string {
  if (lstatIfThere(path)?.isSymbolicLink() === true) return "";
  const file = openRegular(path, Number.MAX_SAFE_INTEGER);
  if (file === undefined) return "";
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8").trim();
  } finally {
    closeSync(file);
  }
}

/**
 * An agent's input that stays open, in the directory of its turn:
 *
 *   input.json       what the input starts with
 *   input/stdin      named pipe: what the agent reads
 *   input/words      named pipe: ids of replies, and `close`
 *   input/kept/ID    the text of a reply, written whole before its id is said
 *   input/given/ID   the reply was handed to the agent
 *
 * A small shell, the feeder, copies replies into the agent's input. It belongs to the agent, not to the supervisor: it
 * lives when the supervisor dies, so the agent never sees half a reply or an early end of its input. A successor says the
 * ids of replies again that it does not know to be given; the feeder gives each one once, because a second `ln` to
 * the same name fails. The agent's input ends when the feeder leaves.
 */
export const feed = `
ov_turn=$1; shift
(
  command -p cat "$ov_turn/input.json" >&9
  while read -r ov_word <&8; do
    [ "$ov_word" = close ] && exit
    command -p ln "$ov_turn/input/kept/$ov_word" "$ov_turn/input/given/$ov_word" && command -p cat "$ov_turn/input/kept/$ov_word" >&9
  done
) </dev/null >/dev/null 2>&1 8<>"$ov_turn/input/words" 9>"$ov_turn/input/stdin" &
exec 0<"$ov_turn/input/stdin"
`;

/** Makes the pipes. What an earlier try left is taken away: its agent never ran. */
function makeOpenInput(turnDir: string): void {
  const dir = join(turnDir, "input");
  rmSync(dir, { recursive: true, force: true });
  for (const name of ["", "kept", "given"]) mkdirSync(join(dir, name), { mode: 0o700 });
  const made = Bun.spawnSync({ cmd: ["mkfifo", "-m", "600", join(dir, "stdin"), join(dir, "words")] });
  if (!made.success) throw new Error(`mkfifo failed: ${made.stderr.toString()}`);
}

function openInput(turnDir: string): OpenInput {
  const dir = join(turnDir, "input");
  let words: number | undefined;
  const say = (word: string): void => {
    // Opened for reading and writing, so that opening does not wait for the feeder. It stays open, so that words from
    // before the feeder came are not lost.
    words ??= openSync(join(dir, "words"), constants.O_RDWR | constants.O_NONBLOCK);
    writeSync(words, `${word}\n`);
  };
  return {
    keep: (id, text) => {
      const written = join(dir, "kept", `.${id}.${process.pid}`);
      writeFileSync(written, text, { mode: 0o600 });
      try {
        linkSync(written, join(dir, "kept", id));
      } catch (error) {
        // A predecessor, or a supervisor that lost the turn without knowing it yet, was faster: its reply counts.
        if (errorCode(error) !== "EEXIST") throw error;
      } finally {
        rmSync(written, { force: true });
      }
    },
    write: (id) => say(id),
    closeInput: () => say("close"),
  };
}
