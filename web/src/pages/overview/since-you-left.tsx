import { Link } from "@tanstack/react-router";
import type { Since } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useLastLook } from "../../state/last-look.ts";
import { peekOf, useUrl } from "../../state/url.ts";
import { clockTime, money, span } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Glyph, type GlyphName, type Tone } from "../../ui/glyph.tsx";
import { Section } from "../../ui/page.tsx";
import { Shown } from "../../ui/states.tsx";
import css from "./overview-page.module.css";

/** What happened while no one looked: `?since=<time>`, or since the page was last in sight. */
export function SinceYouLeft() {
  const { search, set } = useUrl();
  const { since: left, forget } = useLastLook();
  const asked = Date.parse(search.since ?? "");
  const since = Number.isNaN(asked) ? left : asked;
  if (since === undefined) return null;
  const close = (): void => {
    forget();
    if (search.since !== undefined) set({ since: undefined });
  };
  return <News since={since} onClose={close} />;
}

function News({ since, onClose }: { since: number; onClose: () => void }) {
  const query = useResource({ path: "/api/since", given: { since: Math.round(since) }, refreshedBy: "overview" });
  return (
    <Section
      title={`Since you left ${clockTime(since)} (${span(Date.now() - since)})`}
      more={
        <Button look="quiet" onClick={onClose}>
          Done reading
        </Button>
      }
    >
      <Shown what="what happened" query={query}>
        {(news) => (
          <>
            <p className={css.sum}>{sumWords(news)}</p>
            <ul className={css.news}>
              {news.items.map((item) => (
                <Line key={`${item.kind} ${item.subject} ${item.at}`} item={item} />
              ))}
            </ul>
          </>
        )}
      </Shown>
    </Section>
  );
}

type Item = Since["items"][number];
const looks: Readonly<Record<Item["kind"], { readonly glyph: GlyphName; readonly tone: Tone; readonly word: string }>> =
  {
    landed: { glyph: "merged", tone: "done", word: "landed" },
    undone: { glyph: "reverted", tone: "park", word: "taken back" },
    closed: { glyph: "completed", tone: "done", word: "closed" },
    failed: { glyph: "zombie", tone: "bad", word: "failed" },
    asked: { glyph: "question", tone: "attn", word: "asked" },
    decided: { glyph: "acked", tone: "done", word: "decided" },
  };

function sumWords({ counts, costUsd }: Since): string {
  const kinds = Object.entries(looks).flatMap(([kind, { word }]) => {
    const number = counts[kind as Item["kind"]];
    return number > 0 ? [`${number} ${word}`] : [];
  });
  const parts = [...kinds, ...(costUsd === null ? [] : [`${money(costUsd)} spent`])];
  return parts.length === 0 ? "Nothing happened." : `${parts.join(", ")}.`;
}

const Line = ({ item }: { item: Item }) => {
  const { glyph, tone, word } = looks[item.kind];
  const peek = peekOf(item.subject);
  return (
    <li>
      <time dateTime={item.at}>{clockTime(item.at)}</time>
      <Glyph name={glyph} tone={tone} word={word} />
      {peek === undefined ? (
        <span>{item.sentence}</span>
      ) : (
        <Link to="." search={((before: object) => ({ ...before, peek: item.subject })) as never}>
          {item.sentence}
        </Link>
      )}
    </li>
  );
};
