import type { ReactNode } from "react";
import css from "./glyph.module.css";

export type Tone = "live" | "good" | "attn" | "bad" | "park" | "budget" | "idle" | "done";

const ring = <circle cx="8" cy="8" r="5.25" />;
const shield = <path d="M8 2.25 3.25 4v3.75c0 3 2 5 4.75 6 2.75-1 4.75-3 4.75-6V4Z" />;
const check = <path d="m3.5 8.5 3 3 6-7" />;

/** Each state has its own silhouette: colour is never the only difference. A drawing is 16 by 16, strokes are 1.5. */
const drawings = {
  // Agents
  booting: <circle cx="8" cy="8" r="5.25" strokeDasharray="2.75 2.75" />,
  working: <circle cx="8" cy="8" r="5.5" className={css.solid} />,
  in_turn: (
    <path
      className={css.solid}
      fillRule="evenodd"
      d="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM6.25 4.75 11.5 8l-5.25 3.25Z"
    />
  ),
  between_turns: (
    <>
      {ring}
      <path className={css.solid} d="M8 3v10A5 5 0 0 1 8 3Z" />
    </>
  ),
  stalled: (
    <>
      <path d="M8 2.25 14 13H2Z" />
      <path d="M8 6.25v3" />
      <path d="M8 11.1v.1" />
    </>
  ),
  completed: check,
  no_signal: (
    <>
      {ring}
      <path d="M6.5 6.6c.1-1 .7-1.5 1.5-1.5s1.5.5 1.5 1.3c0 1.1-1.5 1.2-1.5 2.4" />
      <path d="M8 10.8v.1" />
    </>
  ),
  zombie: <path className={css.heavy} d="m3.5 3.5 9 9m0-9-9 9" />,
  parked: (
    <>
      <rect x="2.5" y="2.5" width="11" height="11" rx="2.5" />
      <path d="M6.25 5.75v4.5m3.5-4.5v4.5" />
    </>
  ),
  budget: (
    <>
      <path d="m8 1.5 6.5 6.5L8 14.5 1.5 8Z" />
      <path d="M5.5 8h5" />
    </>
  ),
  // Merges
  pending: <rect x="3" y="3" width="10" height="10" />,
  merging: <path d="M3 3c0 5 5 4 5 10m5-10c0 5-5 4-5 10" />,
  gating: (
    <>
      {shield}
      <path d="M8 5v3l2 1.25" />
    </>
  ),
  merged: (
    <>
      <path d="M4 2v12M4 5c0 4 6 2 6 5" />
      <circle cx="10.5" cy="12" r="2" className={css.solid} />
    </>
  ),
  conflict: <path d="m2.5 4 4 4-4 4m11-8-4 4 4 4" />,
  failed: (
    <>
      {shield}
      <path d="m6.25 5.75 3.5 3.5m0-3.5-3.5 3.5" />
    </>
  ),
  blocked: (
    <>
      {ring}
      <path d="M5 8h6" />
    </>
  ),
  approval: (
    <>
      <circle cx="8" cy="5" r="2.5" />
      <path d="M3 14c0-3 2-5 5-5s5 2 5 5" />
    </>
  ),
  cancelled: (
    <>
      {ring}
      <path d="m4.5 11.5 7-7" />
    </>
  ),
  superseded: <path d="m3.5 4 4 4-4 4m5-8 4 4-4 4" />,
  reverted: <path d="M5.5 3 3 5.5 5.5 8M3 5.5h6a4 4 0 0 1 0 8H6" />,
  // Gates
  gate_queued: ring,
  gate_running: <path d="M8 2.75a5.25 5.25 0 1 1-5.25 5.25" />,
  gate_passed: (
    <>
      {shield}
      <path d="m5.75 7.75 1.6 1.6 3-3.2" />
    </>
  ),
  gate_cached: (
    <>
      <path strokeDasharray="1.5 2" d="M8 2.25 3.25 4v3.75c0 3 2 5 4.75 6 2.75-1 4.75-3 4.75-6V4Z" />
      <path d="m5.75 7.75 1.6 1.6 3-3.2" />
    </>
  ),
  gate_flaky: <path d="M2.5 9c1.5-3 3.5-3 5.5-1s4 2 5.5-1" />,
  // Verdicts
  verified: (
    <path
      className={css.solid}
      fillRule="evenodd"
      d="m8 1 1.8 1.5 2.3-.4.9 2.2 2.1 1.1-.6 2.3.9 2.2-1.9 1.4-.5 2.3-2.3.1L8 15l-1.9-1.3-2.3-.1-.5-2.3-1.9-1.4.9-2.2-.6-2.3 2.1-1.1.9-2.2 2.3.4ZM4.9 8.3l2.3 2.3 4-4.6-1-.9-3.1 3.5-1.3-1.2Z"
    />
  ),
  verified_with_gaps: (
    <>
      <path d="M8 1.75a6.25 6.25 0 1 0 6.25 6.25H11" />
      <path d="M11 1.75V5h3" />
    </>
  ),
  unverified: (
    <path d="m8 1.75 1.6 1.35 2-.35.8 1.95 1.85 1-.55 2.05.8 1.95-1.65 1.25-.5 2-2 .1L8 14.15l-1.7-1.15-2-.1-.5-2-1.65-1.25.8-1.95-.55-2.05 1.85-1 .8-1.95 2 .35Z" />
  ),
  // Deliveries
  queued: <circle cx="8" cy="8" r="2" className={css.solid} />,
  claimed: <circle cx="8" cy="8" r="3.5" />,
  delivered: check,
  acked: <path d="m1.5 8.5 3 3 6-7m-2 5.5 1.5 1.5 5-7" />,
  dead: <path d="m4.5 4.5 7 7m0-7-7 7" />,
  // Others
  question: (
    <>
      <path d="M2.5 3.5h11v7H8l-3 3v-3H2.5Z" />
      <path d="M5.5 7h5" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type GlyphName = keyof typeof drawings;
export const glyphNames = Object.keys(drawings) as readonly GlyphName[];

/** All drawings, once on the page; each glyph on it only refers to one. */
export const GlyphSheet = () => (
  <svg className={css.sheet} aria-hidden="true">
    {glyphNames.map((name) => (
      <symbol key={name} id={`glyph-${name}`} viewBox="0 0 16 16">
        {drawings[name]}
      </symbol>
    ))}
  </svg>
);

/** A state. Its word stands beside it, or is given here and read aloud. */
export const Glyph = ({
  name,
  tone,
  word,
  breathes = false,
}: {
  name: GlyphName;
  tone: Tone;
  word?: string;
  breathes?: boolean;
}) => (
  // biome-ignore lint/a11y/noSvgWithoutTitle: its name is the label, or the word beside it
  <svg
    className={breathes ? `${css.glyph} ${css.breathes}` : css.glyph}
    data-tone={tone}
    {...(word === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": word })}
  >
    <use href={`#glyph-${name}`} />
  </svg>
);
