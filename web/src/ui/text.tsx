import { type ClipboardEvent, Fragment, type ReactNode } from "react";
import { useNow } from "../state/clock.ts";
import { exactTime, money, shortAge, span, stopwatch } from "../state/words.ts";
import { withHidden } from "./safe-text.ts";
import css from "./text.module.css";

/** How long ago something was, kept true. The exact moment is its title. */
export function Age({ at, form = "short" }: { at: string | null | undefined; form?: "short" | "span" | "stopwatch" }) {
  const now = useNow();
  if (at === null || at === undefined) return null;
  const ms = now - Date.parse(at);
  const text = form === "short" ? shortAge(ms) : form === "span" ? span(ms) : stopwatch(ms);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {text}
    </time>
  );
}

/** The two parts are boxes of their own, between which a browser copies a line end. */
function copyInOne(event: ClipboardEvent): void {
  event.clipboardData.setData("text/plain", String(getSelection()).replaceAll("\n", ""));
  event.preventDefault();
}

/** As wide as `text.module.css` keeps it: a letter and the dots. */
const shortestHead = 3;

/** A branch or a path: both ends are read, so the middle is cut. The whole text is the title and what is copied. */
export function Middle({ text: name, tail = 14 }: { text: string; tail?: number }) {
  const text = withHidden(name);
  // A beginning that is shorter than its dots is not worth cutting.
  const cut = text.length > tail + shortestHead ? text.length - tail : text.length;
  return (
    <span className={css.middle} title={text} onCopy={copyInOne}>
      <span>{text.slice(0, cut)}</span>
      <span>{text.slice(cut)}</span>
    </span>
  );
}

export const Money = ({ usd }: { usd: number | null | undefined }) =>
  usd === null || usd === undefined ? (
    <span className="faint" title={usd === null ? "No turn of it reported a cost" : undefined}>
      -
    </span>
  ) : (
    <span className="figure">{money(usd)}</span>
  );

/** `a . b . c`: facts in one line, divided by points. */
export const Facts = ({ facts }: { facts: readonly (ReactNode | null | undefined | false)[] }) => {
  const given = facts.filter((fact) => fact !== null && fact !== undefined && fact !== false && fact !== "");
  return (
    <span className={css.facts}>
      {given.map((fact, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: facts have no name but their place
        <Fragment key={at}>
          {at === 0 ? null : <span aria-hidden>{" · "}</span>}
          {fact}
        </Fragment>
      ))}
    </span>
  );
};
