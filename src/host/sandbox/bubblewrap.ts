import { statSync } from "node:fs";
import { join } from "node:path";
import { readText, writeAtomically } from "../file-access.ts";
import { usualPlaces } from "../git/git.ts";
import { bootId } from "../linux/process-table.ts";
import { type Mount, mountWords, systemMounts } from "./profile.ts";

/** Namespaces of its own for everything but the network, by which agents reach their model. No right of root is left. */
const walls = [
  ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
  ...["--cap-drop", "ALL", "--die-with-parent"],
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  // They belong to root of the machine, who a confined program is where agents run as root, and some name programs to be run.
  ...["/proc/sys", "/proc/sysrq-trigger"].flatMap((path) => ["--ro-bind-try", path, path]),
];

/**
 * Stays outside as the parent of bubblewrap. A signal that asks a turn to end goes to every process of it. Bubblewrap must not
 * follow it: with it the whole inside would be killed at once, and the agent's program could not tidy up. So both ignore these
 * signals, and `env` lets the program hear them again. When this shell is killed, the inside is killed with it.
 */
const outside = `trap '' TERM INT HUP; "$@"; exit $?`;
const hearAgain = ["/usr/bin/env", "--default-signal=TERM,INT,HUP"];

/**
 * Runs inside, before the program, and makes the directories that the program needs. Arguments: paths to make, a zero
 * word, the program.
 */
const inside = `while [ "$1" != -- ]; do mkdir -p "$1"; shift; done; shift
while [ "$1" != -- ]; do if [ ! -e "$2" ] || [ "$1" -nt "$2" ]; then mkdir -p "\${2%/*}"; cp -p "$1" "$2"; fi; shift 2; done; shift
exec "$@"`;

export interface Confined {
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  /** Directories that are made inside where they are missing. */
  readonly makes?: readonly string[];
  /** Files that are copied inside, where the copy is missing or older. */
  readonly copies?: readonly { readonly from: string; readonly to: string }[];
}

/** The words before the command line of a confined program. */
export function bubblewrapWords(
  program: string,
  { mounts, cwd, makes = [], copies = [] }: Confined,
): readonly string[] {
  const prepares = makes.length + copies.length > 0;
  const pairs = copies.flatMap(({ from, to }) => [from, to]);
  return [
    ...["/bin/sh", "-c", outside, "ov-sandbox", program],
    ...[...walls, ...mountWords(systemMounts()), ...mountWords(mounts), "--chdir", cwd, "--"],
    ...hearAgain,
    ...(prepares ? ["/bin/sh", "-c", inside, "ov-inside", ...makes, "--", ...pairs, "--"] : []),
  ];
}

/** Bubblewrap on this machine, or why it cannot be used. */
export type Bubblewrap = { readonly program: string } | { readonly problem: string };

/**
 * Looks for bubblewrap and tries it once. The result is kept with the file of the program and the start of the machine,
 * so that later looks cost one file.
 */
export function findBubblewrap(state: string): Bubblewrap {
  const program = Bun.which("bwrap", { PATH: `${process.env.PATH ?? ""}:${usualPlaces}` });
  if (program === null) return { problem: "bubblewrap (bwrap) is not installed" };
  const { mtimeMs, size, ino } = statSync(program);
  const stamp = JSON.stringify([program, mtimeMs, size, ino, bootId(), process.getuid?.(), walls]);
  const memory = join(state, "run", "bubblewrap.json");
  const known = remembered(memory);
  const problem = known?.stamp === stamp ? known.problem : tried(program);
  if (known?.stamp !== stamp) remember(memory, { stamp, problem });
  return problem === null ? { program } : { problem };
}

interface Memory {
  readonly stamp: string;
  readonly problem: string | null;
}

function remembered(path: string): Memory | undefined {
  try {
    const { stamp, problem } = JSON.parse(readText(path) ?? "{}");
    const isSound = typeof stamp === "string" && (problem === null || typeof problem === "string");
    return isSound ? { stamp, problem } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A place where nothing can be written, as in a confined program, has no memory: it is tried each time. */
function remember(path: string, memory: Memory): void {
  try {
    writeAtomically(path, JSON.stringify(memory), 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}

const patienceMs = 10_000;

function tried(program: string): string | null {
  const [shell = "/bin/sh", ...words] = bubblewrapWords(program, { mounts: [], cwd: "/" });
  const child = Bun.spawnSync({
    cmd: [shell, ...words, "true"],
    env: { PATH: `${process.env.PATH ?? ""}:${usualPlaces}` },
    stdio: ["ignore", "ignore", "pipe"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  if (child.success) return null;
  return `bubblewrap cannot confine a program here: ${child.stderr.toString().trim().slice(-300)}`;
}
