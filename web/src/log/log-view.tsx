import { useVirtualizer } from "@tanstack/react-virtual";
import Anser from "anser";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { useCommands } from "../state/commands.ts";
import { count } from "../state/words.ts";
import { Button, Filter } from "../ui/controls.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { type LogLine, LogLines, type LogPart, plainLine } from "./log-lines.ts";
import css from "./log-view.module.css";

export interface LogViewProps {
  /** What it is the output of: "test of merge 31". */
  readonly label: string;
  readonly parts: readonly LogPart[];
  /** More may come. */
  readonly isRunning: boolean;
  /** The lines that an address names: `120` or `120-140`. */
  readonly marked?: string | undefined;
  readonly onMark?: (marked: string | undefined) => void;
}

/**
 * An output in lines with numbers, search and colours. It follows its end while its end is in sight: leaving the end by
 * wheel, key or drag pauses, coming back goes on, and wrapping or resizing changes nothing.
 */
export function LogView({ label, parts, isRunning, marked, onMark }: LogViewProps) {
  const reader = useRef<LogLines>(undefined);
  reader.current ??= new LogLines();
  const { lines, dropped } = useMemo(() => (reader.current as LogLines).take(parts), [parts]);
  const [wraps, setWraps] = useState(false);
  const [words, setWords] = useState("");
  const scroller = useRef<HTMLDivElement>(null);
  const [from, to] = rangeOf(marked);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 30,
  });
  const follow = useFollow({ scroller, virtual, total: lines.length + dropped, isRunning, marked });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other heights are measured anew
  useEffect(() => {
    virtual.measure();
    follow.keepEnd();
  }, [wraps]);
  const found = useMemo(() => placesOf(lines, words), [lines, words]);
  const firstError = useMemo(() => lines.findIndex(({ isError }) => isError), [lines]);
  const show = (at: number): void => {
    onMark?.(String(at + 1 + dropped));
    virtual.scrollToIndex(at, { align: "center" });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another address moves the view
  useEffect(() => {
    if (from !== undefined) virtual.scrollToIndex(from - 1 - dropped, { align: "center" });
  }, [from]);
  const here = from === undefined ? -1 : from - 1 - dropped;
  const next = (step: 1 | -1): void => {
    const place =
      step === 1 ? (found.find((at) => at > here) ?? found[0]) : (found.findLast((at) => at < here) ?? found.at(-1));
    if (place !== undefined) show(place);
  };
  const noMatch = found.length === 0 ? "Nothing is found" : undefined;
  const noError = firstError < 0 ? "No line looks like an error" : undefined;
  useCommands(label, [
    { id: "log.find", label: "Find in the log", keys: "/", run: () => document.getElementById("log-find")?.focus() },
    { id: "log.next", label: "Next place", keys: "n", run: () => next(1), disabled: noMatch },
    { id: "log.previous", label: "Previous place", keys: "Shift+N", run: () => next(-1), disabled: noMatch },
    { id: "log.error", label: "First error", keys: "e", run: () => show(firstError), disabled: noError },
    { id: "log.wrap", label: "Wrap lines", keys: "w", run: () => setWraps(!wraps) },
    { id: "log.end", label: "Go to the end", keys: "Shift+G", run: follow.toEnd },
  ]);
  const digits = String(lines.length + dropped).length;
  return (
    <div className={css.log}>
      <div className={css.bar}>
        <Filter id="log-find" label="Find in the log" value={words} onChange={setWords} />
        {words === "" ? null : <span className={css.faint}>{count(found.length, "line")}</span>}
        <Button look="quiet" keys="n" whyNot={noMatch} onClick={() => next(1)}>
          Next
        </Button>
        <Button look="quiet" keys="e" whyNot={noError} onClick={() => show(firstError)}>
          First error
        </Button>
        <Button look="quiet" keys="w" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          {wraps ? "Do not wrap" : "Wrap"}
        </Button>
        <Button look="quiet" onClick={() => download(`${label}.log`, lines)}>
          Download
        </Button>
        <span className={css.state} role="status">
          {isRunning ? (follow.isFollowing ? "following" : "paused") : count(lines.length + dropped, "line")}
        </span>
      </div>
      {dropped > 0 ? <p className={css.dropped}>{count(dropped, "older line")} left out.</p> : null}
      <div
        ref={scroller}
        className={css.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a log that scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={label}
        onScroll={follow.onScroll}
      >
        <div
          className={css.lines}
          data-wraps={wraps || undefined}
          style={{ height: virtual.getTotalSize(), ["--digits" as string]: `${digits}ch` }}
        >
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const number = index + 1 + dropped;
            const line = lines[index];
            return line === undefined ? null : (
              <div
                key={key}
                ref={wraps ? virtual.measureElement : undefined}
                data-index={index}
                className={css.line}
                data-marked={(from !== undefined && number >= from && number <= (to ?? from)) || undefined}
                style={{ transform: `translateY(${start}px)` }}
              >
                <button
                  type="button"
                  tabIndex={-1}
                  className={css.number}
                  aria-label={`Mark line ${number}`}
                  onClick={(event) =>
                    onMark?.(
                      event.shiftKey && from !== undefined
                        ? `${Math.min(from, number)}-${Math.max(from, number)}`
                        : String(number),
                    )
                  }
                >
                  {number}
                </button>
                <Coloured line={line} words={words} />
              </div>
            );
          })}
        </div>
      </div>
      {follow.unseen > 0 ? (
        <button type="button" className={css.pill} onClick={follow.toEnd}>
          {count(follow.unseen, "new line")}
        </button>
      ) : null}
    </div>
  );
}

interface FollowTerms {
  readonly scroller: { readonly current: HTMLDivElement | null };
  readonly virtual: { scrollToIndex(at: number, options: { align: "end" }): void };
  readonly total: number;
  readonly isRunning: boolean;
  readonly marked: string | undefined;
}

/** Follows the end while it is in sight. */
function useFollow({ scroller, total, isRunning, marked }: FollowTerms) {
  const [isFollowing, setFollowing] = useState(isRunning && marked === undefined);
  const [seen, setSeen] = useState(total);
  const top = useRef(0);
  const keepEnd = (): void => {
    if (isFollowing) toBottom(scroller.current);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what matters is that lines came
  useEffect(() => {
    if (!isFollowing) return;
    setSeen(total);
    toBottom(scroller.current);
  }, [total, isFollowing]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: watched from the first drawing on
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => isFollowing && toBottom(element));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isFollowing]);
  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < endTolerance;
    // Only a person moves the view upwards; a log that grows or wraps does not.
    if (isAtEnd) setFollowing(isRunning);
    else if (element.scrollTop < top.current) setFollowing(false);
    if (isAtEnd) setSeen(total);
    top.current = element.scrollTop;
  };
  const toEnd = (): void => {
    setFollowing(isRunning);
    setSeen(total);
    toBottom(scroller.current);
  };
  return { isFollowing, unseen: isFollowing || !isRunning ? 0 : Math.max(0, total - seen), onScroll, toEnd, keepEnd };
}

/** In pixels: less than half a line. */
const endTolerance = 8;

function toBottom(element: HTMLDivElement | null): void {
  if (element === null) return;
  requestAnimationFrame(() => {
    element.scrollTop = element.scrollHeight;
  });
}

const named = new Set(["red", "green", "yellow", "blue", "magenta", "cyan"]);

/** A line in the colours that its program gave it. */
const Coloured = memo(function Coloured({ line, words }: { line: LogLine; words: string }) {
  const pieces = Anser.ansiToJson(line.open + line.text, { json: true, use_classes: true, remove_empty: true });
  return (
    <span className={css.text}>
      {pieces.map(({ content, fg, bg, decorations }, at) => {
        const ink = fg?.replace(/^ansi-(bright-)?/, "");
        const ground = bg?.replace(/^ansi-(bright-)?/, "");
        const classes = [
          named.has(ink) ? css[ink] : "",
          named.has(ground) ? css.filled : "",
          named.has(ground) && !named.has(ink) ? css[ground] : "",
          ...decorations.map((each) => css[each] ?? ""),
        ];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line have no name but their place
          <span key={at} className={classes.filter((name) => name !== "").join(" ") || undefined}>
            <Found text={withTurns(content)} words={words} />
          </span>
        );
      })}
    </span>
  );
});

function Found({ text, words }: { text: string; words: string }) {
  const at = words === "" ? -1 : text.toLowerCase().indexOf(words.toLowerCase());
  if (at < 0) return text;
  const end = at + words.length;
  return (
    <>
      {text.slice(0, at)}
      <mark className={css.found}>{text.slice(at, end)}</mark>
      <Found text={text.slice(end)} words={words} />
    </>
  );
}

function placesOf(lines: readonly LogLine[], words: string): readonly number[] {
  if (words === "") return [];
  const wanted = words.toLowerCase();
  return lines.flatMap((line, at) => (plainLine(line).toLowerCase().includes(wanted) ? [at] : []));
}

function rangeOf(marked: string | undefined): readonly [number | undefined, number | undefined] {
  const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(marked ?? "") ?? [];
  return [from === undefined ? undefined : Number(from), to === undefined ? undefined : Number(to)];
}

function download(name: string, lines: readonly LogLine[]): void {
  const address = URL.createObjectURL(new Blob([lines.map(plainLine).join("\n")], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  URL.revokeObjectURL(address);
}
