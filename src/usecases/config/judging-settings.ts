import { shellWord } from "../../domain/text/shell-word.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import type { Ids } from "../../ports/ids.ts";
import type { JudgingValues, KnownSettings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { tellOperator } from "../mail/post.ts";

/** The configuration, by section. */
type Source = Readonly<Record<(typeof sections)[number], unknown>>;

/** What decides what lands comes first, then what confines agents, what they may spend, and what is kept. */
const sections = [
  "project",
  "merge",
  "sandbox",
  "engine",
  "notify",
  "serve",
  "providers",
  "runtime",
  "models",
  "budgets",
  "agents",
  "coordinator",
  "worktrees",
  "worktree",
  "logging",
  "snapshot",
  "history",
  "events",
  "logs",
  "costs",
  "turn",
  "mail",
  "watchdog",
  "taskTracker",
] as const;

/** Sections whose keys are names that the user chose. Each of them is one value. */
const named: ReadonlySet<string> = new Set(["providers", "models"]);

/**
 * All settings. A person may edit the files by hand, and so may an agent's script. So an engine takes a change over and tells
 * the operator, but for a value that the operator set with `ov config set`.
 */
function judgingSettings(settings: Source): JudgingValues {
  const all = sections.flatMap((section): readonly (readonly [string, unknown])[] => {
    const values = settings[section];
    if (named.has(section)) return [[section, values]];
    return Object.entries(values ?? {}).map(([key, value]) => [`${section}.${key}`, value]);
  });
  return Object.fromEntries(all.map(([key, value]) => [key, value === undefined ? unset : JSON.stringify(value)]));
}

const unset = "null";

/** Notes that the operator has set this key, so that no engine tells of it. */
export function acknowledgeSetting(memory: KnownSettings, key: string, settings: Source): void {
  const known = knownIn(memory);
  const now = judgingSettings(settings);
  const top = Object.keys(now).find((each) => key === each || key.startsWith(`${each}.`));
  const value = top === undefined ? undefined : now[top];
  if (known === undefined || top === undefined || value === undefined) return;
  const { [waiting]: asked, ...others } = known;
  memory.write({ ...others, ...(top === run || asked === undefined ? {} : { [waiting]: asked }), [top]: value });
}

/** The setting with a command that the engine runs by itself. A change of it in a file waits for the operator. */
const run = "notify.command";
/** The key under which the value is kept that the operator was asked about. */
const waiting = "notify.command, not confirmed";

/** An earlier version wrote no command where none was set. Whatever else is missing was not watched then. */
const knownIn = (memory: KnownSettings): JudgingValues | undefined => {
  const known = memory.read();
  return known === undefined ? undefined : { [run]: unset, ...known };
};

/** Is this the command that the operator set, or that stood there when no agent could have written it? */
export function isConfirmedCommand(memory: KnownSettings, settings: Source): boolean {
  const known = knownIn(memory);
  return known === undefined || known[run] === judgingSettings(settings)[run];
}

/**
 * Tells the operator which of these settings are others than the last engine knew, if agents work. Told first and noted
 * then: after a crash in between it is told again.
 */
export async function tellOfChangedSettings(
  settings: Source,
  { store, memory, ids, now }: { store: Store; memory: KnownSettings; ids: Ids; now: number },
): Promise<void> {
  const known = knownIn(memory);
  const current = judgingSettings(settings);
  const changed = Object.keys(current).filter((key) => {
    const before = known?.[key];
    return before !== undefined && before !== current[key] && !(key === run && known?.[waiting] === current[key]);
  });
  const hasAgents = changed.length > 0 && (await store.read((tx) => tx.agents.list({ live: true }))).length > 0;
  if (hasAgents) {
    await store.transaction(async (tx) => {
      const changes = changed.map((key) => ({ key, from: known?.[key] ?? null, to: current[key] ?? null }));
      const data = { changes };
      await record(tx, now, { source: "engine", type: "settings_changed", level: "warn", data });
      const lines = changes.map(
        ({ key, from, to }) => `${key}: ${short(from)} -> ${short(to)} (see: ov config explain ${shellWord(key)})`,
      );
      await tellOperator(tx, { ids, now }, letterOf(lines, changed.includes(run)));
    });
  }
  const next = known === undefined ? current : held(known, current, hasAgents);
  const keys = Object.keys({ ...known, ...next });
  if (known === undefined || keys.some((key) => known[key] !== next[key])) memory.write(next);
}

/**
 * The values to remember. A `notify.command` that came while agents work, or that the operator was asked about before,
 * stays unconfirmed.
 */
function held(known: JudgingValues, current: JudgingValues, hasAgents: boolean): JudgingValues {
  const { [run]: command, ...others } = current;
  if (command === undefined || command === unset || command === known[run]) return current;
  if (!hasAgents && command !== known[waiting]) return current;
  return { ...others, [waiting]: command, ...(known[run] === undefined ? {} : { [run]: known[run] }) };
}

const letterOf = (lines: readonly string[], hasCommand: boolean) => ({
  type: "status" as const,
  priority: "high" as const,
  runId: null,
  subject: `settings were changed in a file: ${lines.length}`,
  body: [
    "While agents work, a file of the configuration was changed. From now on these settings count:",
    ...lines.slice(0, mostLines),
    ...(lines.length > mostLines ? [`and ${lines.length - mostLines} more: ov config list`] : []),
    ...(hasCommand
      ? [`${run} is not run before you set it yourself, with the value that you want: ov config set --local ${run} ...`]
      : []),
    "If it was not you, an agent did it: put the old value back with ov config set, and look at what has landed since: ov merge log",
  ].join("\n"),
});

const short = (value: string | null): string => {
  const text = visibleLine(value ?? "nothing");
  return text.length > longest ? `${text.slice(0, longest)}...` : text;
};
const longest = 300;
const mostLines = 20;
