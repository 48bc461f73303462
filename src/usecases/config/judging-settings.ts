import { shellWord } from "../../domain/text/shell-word.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import type { Ids } from "../../ports/ids.ts";
import type { JudgingValues, KnownSettings, Settings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { tellOperator } from "../mail/post.ts";

/** The settings that some of the values are taken from. */
type Source = Pick<Settings, "project" | "merge"> & { readonly engine: { readonly mcpHttp: boolean } };

/**
 * The settings that decide what lands. A person may edit their files by hand, and so may an agent's script, so an engine
 * takes a change over and tells the operator. What the operator set with `ov config set` is known already.
 */
function judgingSettings({ project, merge, engine }: Source): JudgingValues {
  const all = {
    "project.qualityGates": project.qualityGates,
    "project.canonicalBranch": project.canonicalBranch,
    "engine.mcpHttp": engine.mcpHttp,
    ...Object.fromEntries(Object.entries(merge).map(([key, value]) => [`merge.${key}`, value])),
  };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([key, value]) => [key, JSON.stringify(value)]));
}

/** Notes that the operator has set this key, so that no engine tells of it. */
export function acknowledgeSetting(memory: KnownSettings, key: string, settings: Source): void {
  const known = memory.read();
  const now = judgingSettings(settings);
  const top = Object.keys(now).find((each) => key === each || key.startsWith(`${each}.`));
  const value = top === undefined ? undefined : now[top];
  if (known !== undefined && top !== undefined && value !== undefined) memory.write({ ...known, [top]: value });
}

/**
 * Tells the operator which of these settings are others than the last engine knew, if agents work. Told first and noted
 * then: after a crash in between it is told again.
 */
export async function tellOfChangedSettings(
  settings: Source,
  { store, memory, ids, now }: { store: Store; memory: KnownSettings; ids: Ids; now: number },
): Promise<void> {
  const known = memory.read();
  const current = judgingSettings(settings);
  if (known !== undefined && Object.keys({ ...known, ...current }).every((key) => known[key] === current[key])) return;
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
      await tellOperator(tx, { ids, now }, letterOf(lines));
    });
  }
  memory.write(current);
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
