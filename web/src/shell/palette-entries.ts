import Fuzzy from "@leeoniya/ufuzzy";
import { useEffect, useMemo, useState } from "react";
import { useAgents, useRuns, useTasks } from "../api/resources.ts";
import type { Found } from "../api/types.ts";
import { useResource } from "../live/resource.ts";
import { type CommandGroup, useCommandGroups } from "../state/commands.ts";
import { type Search, useGo } from "../state/url.ts";
import { pages } from "./pages.ts";
import { closePanel, openPanel } from "./panels.ts";

const groups = ["Actions", "Agents", "Tasks", "Merges", "Messages", "Runs", "Pages", "Settings", "Keys"] as const;
type Group = (typeof groups)[number];

export interface Entry {
  readonly id: string;
  readonly group: Group;
  readonly label: string;
  readonly more?: string | undefined;
  readonly keys?: string | undefined;
  readonly disabled?: string | undefined;
  readonly run: () => void;
}

/** A sign at the beginning limits what is looked through. */
export const prefixes: Readonly<Record<string, readonly Group[]>> = {
  ">": ["Actions"],
  "@": ["Agents"],
  "#": ["Tasks", "Merges"],
  "?": ["Keys"],
};

const recentPlace = "overstory.recent";
const mostShown = 60;
/** So many of each kind, so that one kind does not hide the others. */
const mostOfGroup = 8;
/** The server is asked when a person stops typing for so long. */
const pauseMs = 150;
const fuzzy = new Fuzzy({ intraMode: 1, intraIns: 1 });

/** What the typed words find: of what the page knows by their letters, of everything on record by whole words. */
export function useFound(typed: string, { onlyRecord }: { onlyRecord: boolean }) {
  const limits = onlyRecord ? undefined : prefixes[typed[0] ?? ""];
  const words = (limits === undefined ? typed : typed.slice(1)).trim();
  const known = useKnown();
  const record = useRecord(words, { limit: onlyRecord ? 20 : mostOfGroup });
  const found = useMemo(() => {
    const isWanted = ({ group }: Entry): boolean => limits === undefined || limits.includes(group);
    const local = onlyRecord ? [] : search(known.filter(isWanted), words, limits);
    const ids = new Set(local.map(({ id }) => id));
    return grouped([...local, ...record.entries.filter((entry) => isWanted(entry) && !ids.has(entry.id))]);
  }, [known, words, limits, record.entries, onlyRecord]);
  return { found, words, isReading: record.isReading, error: record.error };
}

/** Entries of one group stand together; the group with the best hit is the first. */
function grouped(entries: readonly Entry[]): readonly Entry[] {
  const order = [...new Set(entries.map(({ group }) => group))];
  return entries.toSorted((a, b) => order.indexOf(a.group) - order.indexOf(b.group)).slice(0, mostShown);
}

/** What the page knows by itself: the actions of the page, and what has a name. */
function useKnown(): readonly Entry[] {
  const commands = useCommandGroups();
  const go = useGo();
  const { agents = [] } = useAgents();
  const { data: runs } = useRuns();
  const { data: tasks } = useTasks();
  const { data: queue } = useResource({ path: "/api/merge/queue", topic: "queue" });
  const { data: config } = useResource({ path: "/api/config" });
  return useMemo(() => {
    const named = (group: Group, id: string, label: string, more: string): Entry => ({
      id: `${group}.${id}`,
      group,
      label,
      more: inWords(more),
      run: () => open(go, group, id),
    });
    return [
      ...actionsOf(commands),
      ...agents.map(({ name, capability, status }) => named("Agents", name, name, `${capability}, ${status}`)),
      ...(tasks?.items ?? []).map(({ id, title, status }) => named("Tasks", id, title, `${id}, ${status}`)),
      ...(queue?.items ?? []).map(({ id, branch, status }) => named("Merges", String(id), branch, `#${id}, ${status}`)),
      ...(runs?.items ?? []).map(({ id, objective, status }) => named("Runs", id, objective ?? id, status)),
      ...pages.map(
        ({ path, title, letter }): Entry => ({
          id: `page.${path}`,
          group: "Pages",
          label: title,
          keys: `g ${letter}`,
          run: () => go(path),
        }),
      ),
      ...(config?.items ?? []).map(({ key, doc }) => named("Settings", key, key, doc)),
      ...keysOf(commands),
    ];
  }, [commands, agents, tasks, queue, runs, config, go]);
}

/** What the record holds with these words in it, by the full text of the server. */
function useRecord(words: string, { limit }: { limit: number }) {
  const go = useGo();
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(words), pauseMs);
    return () => clearTimeout(timer);
  }, [words]);
  const isWanted = asked.length > 1;
  const query = useResource({ path: "/api/search", given: { q: asked, limit }, isWanted, isFresh: true });
  // Hits of the words before stand as long as nothing better is known, but are not offered for other words.
  const data = isWanted && !query.isPlaceholderData && asked === words ? query.data : undefined;
  const entries = useMemo(
    () =>
      (data?.items ?? []).map((hit): Entry => {
        const { group, isId } = kinds[hit.kind];
        const more = [isId ? hit.id : undefined, inWords(hit.status ?? "")].filter(Boolean).join(", ");
        const label = hit.kind === "agent" ? hit.id : hit.title;
        return { id: `${group}.${hit.id}`, group, label, more, run: () => open(go, group, hit.id) };
      }),
    [data, go],
  );
  const isReading = words.length > 1 && (asked !== words || query.isFetching);
  return { entries, isReading, error: isWanted ? query.error : null };
}

/** `in_progress` is read as "in progress". */
const inWords = (text: string): string => text.replaceAll("_", " ");

const kinds: Readonly<Record<Found["kind"], { readonly group: Group; readonly isId: boolean }>> = {
  agent: { group: "Agents", isId: false },
  task: { group: "Tasks", isId: true },
  run: { group: "Runs", isId: true },
  branch: { group: "Merges", isId: false },
  message: { group: "Messages", isId: false },
};

/** Where things of each kind have their page. */
function open(go: (to: string, more?: Search) => void, group: Group, id: string): void {
  if (group === "Agents") go(`/agents/${encodeURIComponent(id)}`);
  else if (group === "Tasks") go("/tasks", { task: id });
  else if (group === "Merges") go(`/merge/${id}`);
  else if (group === "Messages") go("/mail", { box: "all", msg: id });
  else if (group === "Runs") go("/", { run: id });
  else if (group === "Settings") go(`/settings/${id.split(".")[0]}`, { q: id });
}

/** Innermost first: what is selected stands before what the page offers, and that before what is offered everywhere. */
const innermostFirst = (commands: readonly CommandGroup[]): readonly CommandGroup[] => {
  const isOuter = ({ title }: CommandGroup): number => (title === "Everywhere" ? 1 : 0);
  return commands.toReversed().toSorted((a, b) => isOuter(a) - isOuter(b));
};

function actionsOf(commands: readonly CommandGroup[]): readonly Entry[] {
  const actions = innermostFirst(commands).flatMap(({ title, commands }) =>
    commands
      .filter(({ onlyKeys, id }) => onlyKeys !== true && !id.startsWith("go."))
      .map((command): Entry => ({ ...command, group: "Actions", more: title })),
  );
  return [...new Map(actions.map((entry) => [entry.id, entry])).values()];
}

/** Help: each key that acts now, and the sheet with all of them. */
const keysOf = (commands: readonly CommandGroup[]): readonly Entry[] => [
  {
    id: "Keys.all",
    group: "Keys",
    label: "All keys, also those of lists",
    run: () => {
      closePanel();
      openPanel("keys");
    },
  },
  ...innermostFirst(commands).flatMap(({ title, commands }) =>
    commands
      .filter(({ keys }) => keys !== undefined)
      .map((command): Entry => ({ ...command, id: `Keys.${command.id}`, group: "Keys", more: title })),
  ),
];

/** Keys are help: they are found behind `?` only, or each action would be listed twice. */
function search(among: readonly Entry[], words: string, limits: readonly Group[] | undefined): readonly Entry[] {
  const entries = limits === undefined ? among.filter(({ group }) => group !== "Keys") : among;
  if (words === "") {
    if (limits !== undefined) return entries.slice(0, mostShown);
    const first = recentIds().flatMap((id) => entries.find((entry) => entry.id === id) ?? []);
    return [...first, ...entries.filter(({ group, id }) => group === "Actions" && !recentIds().includes(id))];
  }
  const texts = entries.map(({ label, more = "" }) => `${label} ${more}`);
  const [ids, info, order] = fuzzy.search(texts, words);
  const best = order?.map((place) => info?.idx[place]) ?? ids ?? [];
  const counts = new Map<Group, number>();
  return best.flatMap((id) => {
    const entry = id === undefined ? undefined : entries[id];
    if (entry === undefined) return [];
    const count = (counts.get(entry.group) ?? 0) + 1;
    counts.set(entry.group, count);
    return count > mostOfGroup && limits === undefined ? [] : [entry];
  });
}

function recentIds(): readonly string[] {
  try {
    return JSON.parse(localStorage.getItem(recentPlace) ?? "[]");
  } catch {
    // Without the list of recent choices the palette only begins with the actions of the page.
    return [];
  }
}

export const remember = (id: string): void =>
  localStorage.setItem(recentPlace, JSON.stringify([id, ...recentIds().filter((other) => other !== id)].slice(0, 5)));
