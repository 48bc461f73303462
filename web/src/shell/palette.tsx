import Fuzzy from "@leeoniya/ufuzzy";
import { type KeyboardEvent, useId, useMemo, useState } from "react";
import { useAgents, useRuns } from "../api/resources.ts";
import { useCommandGroups } from "../state/commands.ts";
import { useGo } from "../state/url.ts";
import { Keys } from "../ui/controls.tsx";
import { Overlay } from "../ui/overlays.tsx";
import { pages } from "./pages.ts";
import css from "./palette.module.css";
import { closePanel } from "./panels.ts";

interface Entry {
  readonly id: string;
  readonly group: "Actions" | "Agents" | "Runs" | "Pages";
  readonly label: string;
  readonly more?: string | undefined;
  readonly keys?: string | undefined;
  readonly disabled?: string | undefined;
  readonly run: () => void;
}

const prefixes: Readonly<Record<string, Entry["group"]>> = { ">": "Actions", "@": "Agents", "#": "Runs" };
const recentPlace = "overstory.recent";
const mostShown = 40;
const fuzzy = new Fuzzy({ intraMode: 1, intraIns: 1 });

/** Everything that can be done or opened, in one list: what the page offers, then agents, runs and pages. */
export function Palette({ open }: { open: boolean }) {
  return (
    <Overlay title="Command palette" shape="palette" hideTitle open={open} onClose={closePanel}>
      {open ? <PaletteBody /> : null}
    </Overlay>
  );
}

function PaletteBody() {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const listId = useId();
  const entries = useEntries();
  const found = useMemo(() => search(entries, query), [entries, query]);
  const current = found[Math.min(at, found.length - 1)];
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined || entry.disabled !== undefined) return;
    remember(entry.id);
    closePanel();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 8,
      PageUp: at - 8,
    };
    const to = steps[event.key];
    if (to !== undefined) setAt(Math.max(0, Math.min(found.length - 1, to)));
    else if (event.key === "Enter") choose(current);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        className={css.field}
        // biome-ignore lint/a11y/noAutofocus: the palette is opened in order to type
        autoFocus
        role="combobox"
        aria-label="Search actions, agents, runs and pages"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current === undefined ? undefined : `${listId}-${current.id}`}
        placeholder="Type to search.  > actions  @ agents  # runs"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label="Results" className={css.list}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys
          <div
            key={entry.id}
            id={`${listId}-${entry.id}`}
            ref={entry === current ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
            role="option"
            tabIndex={-1}
            aria-selected={entry === current}
            aria-disabled={entry.disabled !== undefined}
            className={css.entry}
            onMouseMove={() => setAt(index)}
            onClick={() => choose(entry)}
          >
            <span className={css.group}>{found[index - 1]?.group === entry.group ? "" : entry.group}</span>
            <span className={css.label}>{entry.label}</span>
            <span className={css.more}>{entry.disabled ?? entry.more}</span>
            {entry.keys === undefined ? null : <Keys keys={entry.keys} />}
          </div>
        ))}
        {found.length === 0 ? <p className={css.none}>Nothing is called like this.</p> : null}
      </div>
    </>
  );
}

function useEntries(): readonly Entry[] {
  const groups = useCommandGroups();
  const go = useGo();
  const { agents = [] } = useAgents();
  const { data: runs } = useRuns();
  return useMemo(() => {
    const actions = groups
      .toReversed()
      .flatMap(({ title, commands }) =>
        commands
          .filter(({ onlyKeys, id }) => onlyKeys !== true && !id.startsWith("go."))
          .map((command): Entry => ({ ...command, group: "Actions", more: title })),
      );
    return [
      ...new Map(actions.map((entry) => [entry.id, entry])).values(),
      ...agents.map(
        (agent): Entry => ({
          id: `agent.${agent.name}`,
          group: "Agents",
          label: agent.name,
          more: `${agent.capability}, ${agent.status}`,
          run: () => go(`/agents/${agent.name}`),
        }),
      ),
      ...(runs?.items ?? []).map(
        (run): Entry => ({
          id: `run.${run.id}`,
          group: "Runs",
          label: run.objective ?? run.id,
          more: run.status,
          run: () => go("/", { run: run.id }),
        }),
      ),
      ...pages.map(
        (page): Entry => ({
          id: `page.${page.path}`,
          group: "Pages",
          label: page.title,
          keys: `g ${page.letter}`,
          run: () => go(page.path),
        }),
      ),
    ];
  }, [groups, agents, runs, go]);
}

function search(entries: readonly Entry[], typed: string): readonly Entry[] {
  const group = prefixes[typed[0] ?? ""];
  const words = (group === undefined ? typed : typed.slice(1)).trim();
  const among = group === undefined ? entries : entries.filter((entry) => entry.group === group);
  if (words === "") {
    const recent = group === undefined ? recentIds() : [];
    const first = recent.flatMap((id) => among.find((entry) => entry.id === id) ?? []);
    return [...first, ...among.filter((entry) => !first.includes(entry))].slice(0, mostShown);
  }
  const texts = among.map(({ label, more = "" }) => `${label} ${more}`);
  const [ids, info, order] = fuzzy.search(texts, words);
  const best = order?.map((place) => info?.idx[place]) ?? ids ?? [];
  return best.flatMap((id) => (id === undefined ? [] : (among[id] ?? []))).slice(0, mostShown);
}

function recentIds(): readonly string[] {
  try {
    return JSON.parse(localStorage.getItem(recentPlace) ?? "[]");
  } catch {
    // Without the list of recent choices the palette only begins with the actions of the page.
    return [];
  }
}

const remember = (id: string): void =>
  localStorage.setItem(recentPlace, JSON.stringify([id, ...recentIds().filter((other) => other !== id)].slice(0, 5)));
