import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import type { ProgramProblem, Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type { Confinement, ProbeProgram } from "../ports/sandbox.ts";
import { writeAtomically } from "./file-access.ts";
import { markedAsGate } from "./linux/mark.ts";

/** A program that an agent needs, as a shell with this PATH finds it. */
interface ProbedProgram {
  readonly program: string;
  /** The arguments that print the version; default: --version. */
  readonly versionArgs?: readonly string[] | undefined;
  readonly path: string;
  /** The file that keeps the answer. The program is asked again when its own file has changed. */
  readonly memory?: string;
  /** How the system confines it; null where it does not. */
  readonly confine?: (program: ProbeProgram) => Confinement | null;
  /** How long it may take to say its version. */
  readonly patienceMs?: number;
}

interface Known {
  readonly at: string;
  readonly stamp: string;
  readonly version: string;
}

/**
 * As `probeProgram`, and git must be on the PATH too. A runtime without a program is our own, or is refused elsewhere by
 * its name.
 */
export async function probeRuntime({
  runtime,
  program,
  ...terms
}: Omit<ProbedProgram, "program"> & { readonly runtime: string; readonly program: string | null }): Promise<
  Result<{ readonly version: string | null; readonly note?: string }, Refusal>
> {
  // Our own commands also look for git where systems have it. An agent has only the PATH, and could commit nothing.
  if (Bun.which("git", { PATH: terms.path }) === null) {
    return no({ kind: "runtime-unavailable", runtime, program: "git", problem: { kind: "missing" } });
  }
  if (program === null) return ok({ version: null });
  const probed = await probeProgram({ program, ...terms });
  if (!probed.ok) return no({ kind: "runtime-unavailable", runtime, program, problem: probed.refusal });
  const { version } = probed.value;
  return version === null ? ok({ version, note: slowWords(program, terms.patienceMs) }) : ok({ version });
}

const patience = 15_000;

/** The program exists and may work: a machine under load starts large programs in half a minute. */
export const slowWords = (program: string, patienceMs = patience): string =>
  `${program} --version said nothing within ${patienceMs / 1000} s; its version is not known. A busy machine is one reason, a program that waits for something another`;

/**
 * Can the program start here, and which version of it? Only the first look at a file starts it, to ask for its version;
 * afterwards one look at the file is enough. A null version: it did not say in time, and is asked again the next time.
 */
export async function probeProgram({
  program,
  versionArgs = ["--version"],
  path,
  memory,
  confine = () => null,
  patienceMs = patience,
}: ProbedProgram): Promise<Result<{ readonly version: string | null }, ProgramProblem>> {
  const at = Bun.which(program, { PATH: path });
  if (at === null) return no({ kind: "missing" });
  const env = { PATH: path, HOME: process.env.HOME ?? "/" };
  const confined = confine({ program: at, env });
  const asks = versionArgs.join(" ");
  const stamp = `${confined === null ? "" : "confined:"}${stampOf(at)}${asks === "--version" ? "" : ` ${asks}`}`;
  const known = remembered(memory);
  const same = known.find((one) => one.at === at && one.stamp === stamp);
  if (same !== undefined) return ok({ version: versionIn(same.version) });
  const asked = await ask([...(confined?.before ?? []), at, ...versionArgs], confined?.env ?? env, patienceMs);
  if ("problem" in asked) {
    const isUnseen = confined !== null && "version" in (await ask([at, ...versionArgs], env, patienceMs));
    return no({ kind: isUnseen ? "unseen" : "broken", at, said: asked.problem });
  }
  if (asked.version === null) return ok({ version: null });
  if (memory !== undefined)
    remember(memory, [...known.filter((one) => one.at !== at), { at, stamp, version: asked.version }]);
  return ok({ version: versionIn(asked.version) });
}

/** Programs print their name beside their version, or put it into a sentence. */
const versionIn = (said: string): string => /\d+\.\d+(?:[\w+-]|\.(?=\w))*/.exec(said)?.[0] ?? said;

function stampOf(at: string): string {
  const { mtimeMs, size, ino } = statSync(at);
  return `${mtimeMs}:${size}:${ino}`;
}

async function ask(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  patienceMs: number,
): Promise<{ readonly version: string | null } | { readonly problem: string }> {
  try {
    if (!isProgram(words[0] ?? "")) return { problem: "it is not a program that this system can run" };
    // In a group of its own, so that what a launcher started goes with it.
    const child = Bun.spawn({ cmd: markedAsGate(words), env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
    const answer = await within(said, patienceMs);
    if (answer === "late") {
      // Launchers ignore SIGTERM.
      killGroup(child.pid);
      return { version: null };
    }
    const [out, err, code] = answer;
    // Pi writes it to its error output.
    if (code === 0) return { version: (out.trim() || err.trim()).slice(0, 100) || "unknown" };
    return { problem: err.trim().slice(-300) || `it exited with ${child.signalCode ?? code}` };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** A shell, which puts the mark on it, would take any other file for a script. */
function isProgram(at: string): boolean {
  if (process.platform !== "linux") return true;
  const start = Buffer.alloc(4);
  try {
    const file = openSync(at, "r");
    readSync(file, start);
    closeSync(file);
  } catch {
    // A program need not be readable to be started.
    return true;
  }
  return start.toString("latin1").startsWith("#!") || start.equals(elf);
}

const elf = Buffer.from("\x7fELF", "latin1");

/**
 * Does this command end with 0? `late`: it did not end in time. Its output is not read, because it may be about a
 * person's account.
 */
export async function exitsWell(
  cmd: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<boolean | "late"> {
  try {
    const child = Bun.spawn({ cmd: markedAsGate(cmd), env, stdio: ["ignore", "ignore", "ignore"], detached: true });
    const code = await within(child.exited, patience);
    if (code !== "late") return code === 0;
    killGroup(child.pid);
    return "late";
  } catch {
    // It cannot be started; the probe of the program says so in its own words.
    return false;
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It ended at this very moment.
  }
}

async function within<T>(work: Promise<T>, patienceMs: number): Promise<T | "late"> {
  let timer: Timer | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), patienceMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function remembered(memory: string | undefined): readonly Known[] {
  if (memory === undefined || !existsSync(memory)) return [];
  try {
    const kept: unknown = JSON.parse(readFileSync(memory, "utf8"));
    return Array.isArray(kept) ? kept.filter(isKnown) : [];
  } catch {
    // The file is cut short, or another program wrote it: the program is asked again.
    return [];
  }
}

const isKnown = (value: unknown): value is Known =>
  typeof value === "object" && value !== null && "at" in value && "stamp" in value && "version" in value;

/** A note that could not be kept costs the next caller one more question. */
function remember(memory: string, known: readonly Known[]): void {
  try {
    writeAtomically(memory, JSON.stringify(known.slice(-20)), 0o600);
  } catch {
    // A full or read-only disk: nothing depends on it.
  }
}
