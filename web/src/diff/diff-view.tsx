import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { DiffFile } from "../api/types.ts";
import { useCommands } from "../state/commands.ts";
import { useIsTablet } from "../state/media.ts";
import { useUrl } from "../state/url.ts";
import { Button } from "../ui/controls.tsx";
import { Empty } from "../ui/states.tsx";
import { useColors } from "./colors.ts";
import css from "./diff.module.css";
import { DiffBar } from "./diff-bar.tsx";
import { DiffFiles } from "./diff-files.tsx";
import { LineRow } from "./diff-line.tsx";
import { type DiffRow, diffRows, isChange, type Place, placeKey, placeOf, rowText } from "./diff-rows.ts";
import { FileHead, Gap, WhyClosed } from "./file-parts.tsx";
import { useMode, useTextSize } from "./measures.ts";
import { useViewed } from "./viewed.ts";

export interface DiffProps {
  readonly files: readonly DiffFile[];
  /** Tells diffs apart in which files have the same paths: marks of viewed files belong to it. */
  readonly scope: string;
  readonly contextOf: (path: string) => number;
  readonly openFile: (path: string, context: number) => Promise<void>;
  /** What stands below lines, by `placeKey`: names that `drawBelow` draws. */
  readonly below?: ReadonlyMap<string, readonly string[]>;
  readonly drawBelow?: (key: string) => ReactNode;
  readonly onComment?: ((place: Place) => void) | undefined;
  /** How many comments a file has, by its path. */
  readonly comments?: ReadonlyMap<string, number>;
  /** Letters for the next and the previous file, where the page has no other use for them. */
  readonly fileKeys?: { readonly next: string; readonly previous: string };
  /** Stands beside the diff. */
  readonly aside?: ReactNode;
  /** Stands in the bar over the diff. */
  readonly more?: ReactNode;
}

const noBelow: ReadonlyMap<string, readonly string[]> = new Map();
const noComments: ReadonlyMap<string, number> = new Map();

/** A diff: its files, their changes in one column or two, virtual from the first line to the last. */
export const DiffView = (props: DiffProps) =>
  props.files.length === 0 ? <Empty why="There is no difference." /> : <ShownDiff {...props} />;

function ShownDiff(props: DiffProps) {
  const { files, scope, below = noBelow, comments = noComments, onComment } = props;
  const { search, replace } = useUrl();
  const scroller = useRef<HTMLDivElement>(null);
  const viewed = useViewed(scope);
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const [find, setFind] = useState<string>();
  const [current, setCurrent] = useState<string>();
  const { columns, lineHeight, paneWidth } = useTextSize(scroller);
  const mode = useMode(search.mode, paneWidth);
  const isNarrow = useIsTablet();
  const words = (find ?? "").toLowerCase();

  const rows = useMemo(
    () =>
      diffRows(files, {
        mode,
        isFolded: (file) => (file.closed === null && viewed.isViewed(file)) !== turned.has(file.path),
        below,
      }),
    [files, mode, viewed, turned, below],
  );
  const heads = useMemo(() => rows.flatMap((row, at) => (row.kind === "file" ? [at] : [])), [rows]);
  const found = useMemo(
    () =>
      new Set(words === "" ? [] : rows.flatMap((row, at) => (rowText(row).toLowerCase().includes(words) ? [at] : []))),
    [rows, words],
  );
  const headAt = (at: number): number => heads.findLast((head) => head <= at) ?? 0;
  const sticky = useRef(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => heightOf(rows[at], { mode, columns, lineHeight }),
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: 12,
    scrollPaddingStart: lineHeight * 2,
    // The head of the file that is read stays at the top.
    rangeExtractor: (range) => {
      sticky.current = headAt(range.startIndex);
      return [...new Set([sticky.current, ...defaultRangeExtractor(range)])].toSorted((a, b) => a - b);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights are guessed anew when the text has another size
  useLayoutEffect(() => {
    virtual.measure();
    // What was measured is forgotten by that, also of the rows that are on the page; guesses take its place at once.
    virtual.getTotalSize();
    for (const row of scroller.current?.querySelectorAll("[data-index]") ?? []) virtual.measureElement(row);
  }, [columns, lineHeight, mode]);

  const indexOf = (id: string | undefined): number => rows.findIndex((row) => row.id === id);
  const goTo = (at: number, align: "start" | "center" = "center"): void => {
    const row = rows[at];
    if (row === undefined) return;
    setCurrent(row.id);
    virtual.scrollToIndex(at, { align });
  };
  const step = (by: 1 | -1, wanted: (at: number) => boolean): void => {
    const known = indexOf(current);
    const from = known < 0 ? (virtual.range?.startIndex ?? 0) - (by === 1 ? 1 : 0) : known;
    for (let at = from + by; at >= 0 && at < rows.length; at += by) {
      if (!wanted(at)) continue;
      goTo(at);
      return;
    }
  };
  const isHunk = (at: number): boolean => isChange(rows[at]) && !isChange(rows[at - 1]);
  const currentFile = files[rows[current === undefined ? sticky.current : Math.max(0, indexOf(current))]?.file ?? 0];
  const openPath = (path: string): void => {
    const at = heads.find((head) => files[rows[head]?.file ?? -1]?.path === path);
    if (at !== undefined) goTo(at, "start");
  };
  const chosen = onComment === undefined ? undefined : placeOf(rows[indexOf(current)], files);
  const comment = (): void => {
    if (chosen !== undefined) onComment?.(chosen);
  };
  const turnFold = (path: string): void =>
    setTurned((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const turnViewed = (file: DiffFile | undefined): void => {
    if (file === undefined) return;
    viewed.turn(file);
    setTurned((before) => new Set([...before].filter((path) => path !== file.path)));
  };

  const items = virtual.getVirtualItems();
  const onPage = [...new Set(items.map(({ index }) => rows[index]?.file ?? 0))].join();
  const shownFiles = useMemo(() => onPage.split(",").flatMap((at) => files[Number(at)] ?? []), [onPage, files]);
  const colorsOf = useColors(shownFiles);

  const { fileKeys } = props;
  useCommands("Diff", [
    { id: "diff.next", label: "Next change", keys: "j", run: () => step(1, isHunk) },
    { id: "diff.previous", label: "Previous change", keys: "k", run: () => step(-1, isHunk) },
    ...(fileKeys === undefined
      ? []
      : [
          {
            id: "diff.nextFile",
            label: "Next file",
            keys: fileKeys.next,
            run: () => step(1, (at) => heads.includes(at)),
          },
          {
            id: "diff.previousFile",
            label: "Previous file",
            keys: fileKeys.previous,
            run: () => step(-1, (at) => heads.includes(at)),
          },
        ]),
    { id: "diff.viewed", label: "Mark the file as viewed", keys: "v", run: () => turnViewed(currentFile) },
    ...(onComment === undefined ? [] : [{ id: "diff.comment", label: "Comment on the line", keys: "c", run: comment }]),
    // While the field is open, the same keys are left to the browser.
    ...(find === undefined
      ? [{ id: "diff.find", label: "Find in the diff", keys: "Mod+F", run: () => setFind("") }]
      : []),
  ]);

  // The address names a file, and perhaps a line of it: shown once, when the diff is there.
  const isPlaced = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: later the address follows the person, not the other way round
  useEffect(() => {
    if (isPlaced.current || rows.length === 0 || columns === 0) return;
    isPlaced.current = true;
    const { file, line = "" } = search;
    if (file === undefined) return;
    const [, side = "R", number = ""] = /^([LR])(\d+)$/.exec(line) ?? [];
    const at = indexOf(placeKey({ path: file, side: side as Place["side"], line: Number(number) }));
    if (at >= 0) goTo(at);
    else openPath(file);
  }, [rows, columns]);

  return (
    <div className={css.diff}>
      <DiffBar
        files={files}
        viewed={viewed}
        mode={mode}
        find={find}
        matches={found.size}
        onFind={setFind}
        onStep={(by) => step(by, (at) => found.has(at))}
        more={
          <>
            {chosen === undefined ? null : (
              <Button keys="c" onClick={comment}>
                Comment on line {chosen.line}
              </Button>
            )}
            {props.more}
          </>
        }
      />
      <div className={css.columns} data-aside={props.aside !== undefined || undefined}>
        <DiffFiles
          files={files}
          current={currentFile?.path}
          viewed={viewed}
          comments={comments}
          onOpen={(file) => {
            openPath(file.path);
            replace({ file: file.path, line: undefined });
          }}
        />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section className={css.scroller} ref={scroller} tabIndex={0} aria-label="Changes" data-mode={mode}>
          <div className={css.rows} style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, key, start }) => {
              const row = rows[index];
              if (row === undefined) return null;
              const isSticky = index === sticky.current;
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: keys do the same: j and k choose a line, c comments
                // biome-ignore lint/a11y/useKeyWithClickEvents: the same
                <div
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  className={isSticky ? css.sticky : css.place}
                  style={isSticky ? undefined : { transform: `translateY(${start}px)` }}
                  onClick={(event) => {
                    if (row.kind !== "line" && row.kind !== "pair") return;
                    setCurrent(row.id);
                    const isGutter = (event.target as HTMLElement).closest(`.${css.no}`) !== null;
                    const place = placeOf(row, files);
                    if (place === undefined) return;
                    replace({ file: place.path, line: `${place.side}${place.line}` });
                    if (isGutter) onComment?.(place);
                  }}
                >
                  {draw(row, index)}
                </div>
              );
            })}
          </div>
        </section>
        {props.aside === undefined ? null : isNarrow ? (
          <details className={css.aside}>
            <summary>Task, summary, checks and notes</summary>
            {props.aside}
          </details>
        ) : (
          <aside className={css.aside}>{props.aside}</aside>
        )}
      </div>
    </div>
  );

  function draw(row: DiffRow, at: number): ReactNode {
    const file = files[row.file];
    if (file === undefined) return null;
    switch (row.kind) {
      case "line":
      case "pair":
        return (
          <LineRow
            row={row}
            find={words}
            isCurrent={row.id === current}
            left={colorsOf(file)?.get(`L${row.kind === "line" ? row.old : row.left?.no}`)}
            right={colorsOf(file)?.get(`R${row.kind === "line" ? row.now : row.right?.no}`)}
          />
        );
      case "file":
        return (
          <FileHead
            file={file}
            viewed={viewed}
            onViewed={() => turnViewed(file)}
            onFold={() => turnFold(file.path)}
            isFolded={rows[at + 1]?.file !== row.file}
          />
        );
      case "gap":
        return <Gap row={row} context={props.contextOf(file.path)} onOpen={(to) => props.openFile(file.path, to)} />;
      case "closed":
        return <WhyClosed file={file} onOpen={() => props.openFile(file.path, props.contextOf(file.path))} />;
      case "plain":
        return <p className={css.gap}>{row.text}</p>;
      case "below":
        return props.drawBelow?.(row.key) ?? null;
    }
  }
}

interface TextTerms {
  readonly mode: "split" | "unified";
  readonly columns: number;
  readonly lineHeight: number;
}

/** About how high a row will be. What is drawn is measured; a good guess keeps the rows below it where they are. */
function heightOf(row: DiffRow | undefined, { mode, columns, lineHeight }: TextTerms): number {
  if (row === undefined) return lineHeight;
  if (row.kind === "file") return lineHeight * 1.8;
  if (row.kind === "below") return lineHeight * 5;
  if (row.kind !== "line" && row.kind !== "pair") return lineHeight * 1.4;
  const room = Math.max(10, mode === "split" ? Math.floor(columns / 2) - 7 : columns - 12);
  const lines = (length: number | undefined): number => Math.max(1, Math.ceil((length ?? 0) / room));
  const high =
    row.kind === "line"
      ? lines(row.cell.text.length)
      : Math.max(lines(row.left?.text.length), lines(row.right?.text.length));
  return high * lineHeight;
}
