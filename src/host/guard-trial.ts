import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { GuardTrial, TriedGuard } from "../ports/runtime.ts";
import { readText, writeAtomically } from "./file-access.ts";

/** A command that no role may run, and one that every role may. */
const denied = "git push";
const allowed = "git status";

/** More than a hook takes on the busiest machine. */
const patienceMs = 60_000;

/**
 * Tries the guard by the line that an agent's program is given. What worked is remembered with the file of our program, so
 * that later turns look at that file only.
 */
export const guardTrial = (state: string, version: string): GuardTrial => ({
  problem: async (tried) => {
    const memory = join(state, "run", "guard-tried.json");
    const stamp = JSON.stringify([version, tried.runtime, ...tried.program.map(stampOf)]);
    const known = rememberedIn(memory);
    if (known.includes(stamp)) return undefined;
    const [no, yes] = await Promise.all([ask(tried, denied), ask(tried, allowed)]);
    if (no.code !== 2) return `"${denied}" was not denied (${no.said})`;
    if (yes.code !== 0) return `"${allowed}" was not allowed (${yes.said})`;
    writeAtomically(memory, JSON.stringify([...known.slice(-mostRemembered), stamp]), 0o600);
    return undefined;
  },
});

const mostRemembered = 20;

/** Another file of the same name is another program. */
function stampOf(word: string): string {
  if (!existsSync(word)) return word;
  const { mtimeMs, size, ino } = statSync(word);
  return `${word}:${mtimeMs}:${size}:${ino}`;
}

/** Of a memory that cannot be read nothing is known: it is tried again. */
function rememberedIn(memory: string): readonly string[] {
  try {
    const kept: unknown = JSON.parse(readText(memory) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

interface TrialAnswer {
  readonly code: number | null;
  /** Its exit, and its words for people. */
  readonly said: string;
}

async function ask({ asks, cwd, env }: TriedGuard, command: string): Promise<TrialAnswer> {
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", asks.line],
    cwd,
    env: { ...env },
    stdio: [new Blob([asks.told(command, cwd)]), "ignore", "pipe"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  const said = (await new Response(child.stderr).text()).trim().slice(-300);
  await child.exited;
  const how = child.signalCode === null ? `it exited with ${child.exitCode}` : `it was ended by ${child.signalCode}`;
  return { code: child.exitCode, said: said === "" ? how : `${how}: ${said}` };
}
