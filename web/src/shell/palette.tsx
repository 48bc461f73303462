import { type KeyboardEvent, useId, useState } from "react";
import { Keys } from "../ui/controls.tsx";
import { Overlay } from "../ui/overlays.tsx";
import { Middle } from "../ui/text.tsx";
import css from "./palette.module.css";
import { type Entry, remember, useFound } from "./palette-entries.ts";
import { closePanel, openPanel, type Panel } from "./panels.ts";

/**
 * Everything that can be done or opened, in one list. As `search` it looks through the record alone, with the server's
 * full text; where the palette finds nothing, Enter goes on to that.
 */
export function Palette({ panel }: { panel: Panel | undefined }) {
  const isSearch = panel === "search";
  return (
    <Overlay
      title={isSearch ? "Search" : "Command palette"}
      shape="palette"
      hideTitle
      open={isSearch || panel === "palette"}
      onClose={closePanel}
    >
      {isSearch || panel === "palette" ? <PaletteBody onlyRecord={isSearch} /> : null}
    </Overlay>
  );
}

function PaletteBody({ onlyRecord }: { onlyRecord: boolean }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const listId = useId();
  const { found, words, isReading, error } = useFound(typed, { onlyRecord });
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
    else if (event.key === "Enter" && current !== undefined) choose(current);
    else if (event.key === "Enter" && !onlyRecord && words !== "") {
      setTyped(words);
      openPanel("search");
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        className={css.field}
        // biome-ignore lint/a11y/noAutofocus: the palette is opened in order to type
        autoFocus
        role="combobox"
        aria-label={onlyRecord ? "Search everything on record" : "Search actions and everything that has a name"}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={current === undefined ? undefined : `${listId}-${current.id}`}
        placeholder={
          onlyRecord
            ? "Words in agents, tasks, branches, runs and mail"
            : "Type to search.  > actions  @ agents  # tasks and branches  ? keys"
        }
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label="Results" className={css.list} aria-busy={isReading}>
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
            <span className={css.label}>{entry.group === "Merges" ? <Branch name={entry.label} /> : entry.label}</span>
            <span className={css.more}>{entry.disabled ?? entry.more}</span>
            {entry.keys === undefined ? null : <Keys keys={entry.keys} />}
          </div>
        ))}
      </div>
      {found.length > 0 && error === null ? null : (
        <p className={css.none} role="status">
          {error !== null
            ? `The record could not be searched: ${error.message}.`
            : words === ""
              ? "Words may stand in any order."
              : isReading
                ? "Searching the record"
                : onlyRecord
                  ? "Nothing on record has all of these words."
                  : "Nothing is called like this. Enter searches the record for other words."}
        </p>
      )}
    </>
  );
}

/** Drawn in two parts, so that a long name is cut in its middle, and read as one word. */
const Branch = ({ name }: { name: string }) => (
  <>
    <span className="visually-hidden">{name}</span>
    <span aria-hidden="true">
      <Middle text={name} tail={20} />
    </span>
  </>
);
