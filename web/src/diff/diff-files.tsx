import { useVirtualizer } from "@tanstack/react-virtual";
import { Check } from "lucide-react";
import { useRef } from "react";
import type { DiffFile } from "../api/types.ts";
import { count } from "../state/words.ts";
import { Middle } from "../ui/text.tsx";
import css from "./diff.module.css";
import type { Viewed } from "./viewed.ts";

const letters: Readonly<Record<DiffFile["status"], string>> = {
  added: "A",
  deleted: "D",
  modified: "M",
  renamed: "R",
  "type changed": "T",
};

/** The changed files beside their diff, each with what to know before reading it. */
export function DiffFiles({
  files,
  current,
  viewed,
  comments: commentsOf,
  onOpen,
}: {
  files: readonly DiffFile[];
  current: string | undefined;
  viewed: Viewed;
  /** How many comments a file has, by its path. */
  comments: ReadonlyMap<string, number>;
  onOpen: (file: DiffFile) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: files.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 42,
    getItemKey: (at) => files[at]?.path ?? at,
    overscan: 8,
  });
  return (
    <nav className={css.files} aria-label="Changed files" ref={scroller}>
      <ul style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const file = files[index];
          if (file === undefined) return null;
          const comments = commentsOf.get(file.path) ?? 0;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              style={{ transform: `translateY(${start}px)` }}
            >
              <button
                type="button"
                className={css.entry}
                aria-current={file.path === current ? "true" : undefined}
                onClick={() => onOpen(file)}
              >
                <span className={css.status} title={file.status}>
                  {viewed.isViewed(file) ? <Check aria-label="Viewed" /> : letters[file.status]}
                </span>
                <span className={css.path} aria-hidden>
                  <Middle text={file.path} tail={14} />
                </span>
                <span className="visually-hidden">{file.path}</span>
                <span className={css.meta}>
                  <Counts file={file} />
                  <span className={css.risk}>
                    {[
                      ...(viewed.hasChanged(file) ? ["changed since you viewed it"] : []),
                      ...file.risks.filter((risk) => risk !== "binary"),
                    ].join(", ")}
                  </span>
                  {comments === 0 ? null : <span className={css.faint}>{count(comments, "comment")}</span>}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** How many lines came and went. */
export const Counts = ({ file: { added, removed } }: { file: Pick<DiffFile, "added" | "removed"> }) =>
  added === null || removed === null ? (
    <span className={css.counts}>binary</span>
  ) : (
    <span className={css.counts}>
      +{added} -{removed}
    </span>
  );
