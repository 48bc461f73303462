import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { shellWord } from "../domain/text/shell-word.ts";
import { visibleLine } from "../domain/text/visible.ts";
import { writeAtomically } from "../host/atomic-file.ts";
import { randomIds } from "../host/ids.ts";
import { makeWithin } from "../host/writable.ts";
import type { Store } from "../ports/store.ts";
import { record } from "../usecases/events/record.ts";
import { tellOperator } from "../usecases/mail/post.ts";

/** Values as JSON, by key. */
type Settings = Readonly<Record<string, string>>;

/**
 * The settings that decide what lands. A person may edit their files by hand, and so may an agent's script, so an engine
 * takes a change over and tells the operator. What the operator set with `ov config set` is known already.
 */
export function judgingSettings({ project, merge, engine }: Config): Settings {
  const all = {
    "project.qualityGates": project.qualityGates,
    "project.canonicalBranch": project.canonicalBranch,
    "engine.mcpHttp": engine.mcpHttp,
    ...Object.fromEntries(Object.entries(merge).map(([key, value]) => [`merge.${key}`, value])),
  };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([key, value]) => [key, JSON.stringify(value)]));
}

const fileOf = (state: string): string => join(state, "run", "judging.json");

function readKnown(state: string): Settings | undefined {
  if (!existsSync(fileOf(state))) return undefined;
  try {
    return JSON.parse(readFileSync(fileOf(state), "utf8")) as Settings;
  } catch (error) {
    // Another program wrote over it. Nothing is known then, and the settings in force are taken as known.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A project may be deleted at any moment; its state directory is not made again. */
function writeKnown(state: string, settings: Settings): void {
  makeWithin(join(state, "run"), 1);
  writeAtomically(fileOf(state), `${JSON.stringify(settings)}\n`, 0o600);
}

/** Notes that the operator has set this key, so that no engine tells of it. */
export function acknowledgeSetting(state: string, key: string, config: Config): void {
  const known = readKnown(state);
  const now = judgingSettings(config);
  const top = Object.keys(now).find((each) => key === each || key.startsWith(`${each}.`));
  const value = top === undefined ? undefined : now[top];
  if (known !== undefined && top !== undefined && value !== undefined) writeKnown(state, { ...known, [top]: value });
}

/**
 * Tells the operator which of these settings are others than the last engine knew, if agents work. Told first and noted
 * then: after a crash in between it is told again.
 */
export async function tellOfChangedSettings(
  { dir, config }: { readonly dir: string; readonly config: Config },
  store: Store,
  now: number,
): Promise<void> {
  const known = readKnown(dir);
  const current = judgingSettings(config);
  if (known !== undefined && Bun.deepEquals(known, current)) return;
  const changed = Object.keys(current).filter((key) => known !== undefined && known[key] !== current[key]);
  if (changed.length > 0) {
    await store.transaction(async (tx) => {
      if ((await tx.agents.list({ live: true })).length === 0) return;
      const changes = changed.map((key) => ({ key, from: known?.[key] ?? null, to: current[key] ?? null }));
      const data = { changes };
      await record(tx, now, { source: "engine", type: "settings_changed", level: "warn", data });
      const lines = changes.map(
        ({ key, from, to }) => `${key}: ${short(from)} -> ${short(to)} (see: ov config explain ${shellWord(key)})`,
      );
      await tellOperator(tx, { ids: randomIds, now }, letterOf(lines));
    });
  }
  writeKnown(dir, current);
}

const letterOf = (lines: readonly string[]) => ({
  type: "status" as const,
  priority: "high" as const,
  runId: null,
  subject: `settings that decide what lands were changed in a file: ${lines.length}`,
  body: [
    "While agents work, a file of the configuration was changed. From now on branches are judged by:",
    ...lines,
    "If it was not you, an agent did it: put the old value back with ov config set, and look at what has landed since: ov merge log",
  ].join("\n"),
});

const short = (value: string | null): string => {
  const text = visibleLine(value ?? "nothing");
  return text.length > longest ? `${text.slice(0, longest)}...` : text;
};
const longest = 300;
