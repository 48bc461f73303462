import type { ReactNode } from "react";
import { Glyph, type GlyphName, type Tone } from "./glyph.tsx";
import css from "./look.module.css";

/** How a state looks wherever it is shown. */
export interface Look {
  readonly glyph: GlyphName;
  readonly tone: Tone;
  readonly word: string;
}

interface Given {
  readonly look: Look;
  readonly title?: string | undefined;
  readonly breathes?: boolean;
  /** The text that is shown in place of the word. */
  readonly children?: ReactNode;
}

/** A glyph with its word. */
export const LookMark = ({ look: { glyph, tone, word }, title, breathes = false, children = word }: Given) => (
  <span className={css.look} data-tone={tone} title={title}>
    <Glyph name={glyph} tone={tone} breathes={breathes} />
    {children}
  </span>
);
