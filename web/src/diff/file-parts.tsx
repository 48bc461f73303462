import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { DiffFile } from "../api/types.ts";
import { count } from "../state/words.ts";
import { Button } from "../ui/controls.tsx";
import { Middle } from "../ui/text.tsx";
import css from "./diff.module.css";
import { Counts } from "./diff-files.tsx";
import type { DiffRow } from "./diff-rows.ts";
import { wholeFile } from "./use-diff.ts";
import type { Viewed } from "./viewed.ts";

/** The head of a file, which stays at the top while the file is read. */
export const FileHead = ({
  file,
  viewed,
  isFolded,
  onViewed,
  onFold,
}: {
  file: DiffFile;
  viewed: Viewed;
  isFolded: boolean;
  onViewed: () => void;
  onFold: () => void;
}) => (
  <header className={css.fileHead}>
    <button type="button" className={css.fold} aria-expanded={!isFolded} onClick={onFold}>
      {isFolded ? <ChevronRight aria-hidden /> : <ChevronDown aria-hidden />}
      <span className="visually-hidden">{isFolded ? "Unfold" : "Fold"}</span>
      <Middle text={file.path} tail={28} />
    </button>
    {file.oldPath === null ? null : <span className={css.faint}>from {file.oldPath}</span>}
    {file.status === "modified" || file.status === "renamed" ? null : <span className={css.faint}>{file.status}</span>}
    <span className={css.risk}>{file.risks.filter((risk) => risk !== file.status).join(", ")}</span>
    <Counts file={file} />
    <label className={css.viewed}>
      <input type="checkbox" checked={viewed.isViewed(file)} onChange={onViewed} />
      {viewed.hasChanged(file) ? "Viewed before it changed" : "Viewed"}
    </label>
  </header>
);

/** Lines that stayed and are left out, with a way to see them. */
export function Gap({
  row,
  context,
  onOpen,
}: {
  row: Extract<DiffRow, { kind: "gap" }>;
  context: number;
  onOpen: (context: number) => Promise<void>;
}) {
  const isWhole = context >= wholeFile;
  if (row.count === null && isWhole) return null;
  return (
    <div className={css.gap}>
      <span>{row.count === null ? "" : row.count === 0 ? "" : count(row.count, "unchanged line")}</span>
      {row.count === 0 || isWhole ? null : (
        <>
          <button type="button" onClick={() => void onOpen(context + 20)}>
            Show 20
          </button>
          <button type="button" onClick={() => void onOpen(wholeFile)}>
            {row.count === null ? "Show whole file" : "Show all"}
          </button>
        </>
      )}
      <code>{row.heading}</code>
    </div>
  );
}

const reasons: Readonly<Record<NonNullable<DiffFile["closed"]>, string>> = {
  binary: "A file that is no text. It cannot be shown here.",
  generated: "A generated file. It is closed because a program wrote it.",
  large: "A large change. It is closed to keep the page quick.",
  many: "This diff is long. The file is closed to keep the page quick.",
};

/** Why a file is closed, and the way to open it. */
export function WhyClosed({ file, onOpen }: { file: DiffFile; onOpen: () => Promise<void> }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <div className={css.gap}>
      <span>{reasons[file.closed ?? "many"]}</span>
      {file.closed === "binary" ? null : isAsked ? (
        <span>It has more than 100,000 changed lines. Look at it with ov diff.</span>
      ) : (
        <Button
          onClick={() => {
            void onOpen().then(() => setIsAsked(true));
          }}
        >
          Open {count((file.added ?? 0) + (file.removed ?? 0), "changed line")}
        </Button>
      )}
    </div>
  );
}
