import type { Verdict } from "../api/types.ts";
import { Glyph, type Tone } from "./glyph.tsx";
import css from "./verdict.module.css";

const verdictLooks: Readonly<Record<Verdict, { readonly tone: Tone; readonly word: string }>> = {
  verified: { tone: "good", word: "verified" },
  verified_with_gaps: { tone: "attn", word: "with gaps" },
  unverified: { tone: "idle", word: "unverified" },
};

/** The verdict on a tree: its seal and its word. */
export function VerdictMark({ verdict }: { verdict: Verdict | null | undefined }) {
  if (verdict === null || verdict === undefined) return null;
  const { tone, word } = verdictLooks[verdict] ?? verdictLooks.unverified;
  return (
    <span className={css.verdict} data-tone={tone}>
      <Glyph name={verdict} tone={tone} />
      {word}
    </span>
  );
}
