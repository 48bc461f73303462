import { type ReactNode, useEffect, useRef } from "react";
import type { DiffFile } from "../api/types.ts";
import { useUrl } from "../state/url.ts";
import { count } from "../state/words.ts";
import { Button, Choice } from "../ui/controls.tsx";
import css from "./diff.module.css";
import type { Viewed } from "./viewed.ts";

/** What is said about a diff as a whole, and how it is shown. */
export function DiffBar({
  files,
  viewed,
  mode,
  find,
  matches,
  onFind,
  onStep,
  more,
}: {
  files: readonly DiffFile[];
  viewed: Viewed;
  mode: "split" | "unified";
  /** Undefined: the field is closed. */
  find: string | undefined;
  matches: number;
  onFind: (words: string | undefined) => void;
  onStep: (by: 1 | -1) => void;
  more: ReactNode;
}) {
  const { search, replace } = useUrl();
  const sum = (of: (file: DiffFile) => number | null): number => files.reduce((all, file) => all + (of(file) ?? 0), 0);
  const seen = files.filter(viewed.isViewed).length;
  return (
    <div className={css.bar}>
      <span>
        {seen === 0 ? count(files.length, "file") : `${seen} of ${count(files.length, "file")} viewed`}{" "}
        <span className={css.counts}>
          +{sum(({ added }) => added)} -{sum(({ removed }) => removed)}
        </span>
      </span>
      <Choice
        label="Columns"
        value={mode}
        options={[
          { value: "split", label: "Split" },
          { value: "unified", label: "Unified" },
        ]}
        onChoose={(value) => replace({ mode: value })}
      />
      <Button
        look="quiet"
        aria-pressed={search.ws === "hide"}
        onClick={() => replace({ ws: search.ws === "hide" ? undefined : "hide" })}
      >
        {search.ws === "hide" ? "Show blanks" : "Hide blanks"}
      </Button>
      {find === undefined ? (
        <Button look="quiet" keys="Mod+F" onClick={() => onFind("")}>
          Find
        </Button>
      ) : (
        <FindField find={find} matches={matches} onFind={onFind} onStep={onStep} />
      )}
      {more}
    </div>
  );
}

function FindField({
  find,
  matches,
  onFind,
  onStep,
}: {
  find: string;
  matches: number;
  onFind: (words: string | undefined) => void;
  onStep: (by: 1 | -1) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <span className={css.find}>
      <input
        ref={field}
        type="search"
        aria-label="Find in the diff"
        placeholder="Find in the diff"
        value={find}
        onChange={(event) => onFind(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onStep(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") onFind(undefined);
          else return;
          event.preventDefault();
        }}
      />
      <output>{find === "" ? "" : count(matches, "line")}</output>
    </span>
  );
}
