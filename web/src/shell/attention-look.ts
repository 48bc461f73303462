import type { AttentionKind } from "../api/types.ts";
import type { GlyphName, Tone } from "../ui/glyph.tsx";

interface AttentionLook {
  readonly glyph: GlyphName;
  readonly tone: Tone;
  readonly word: string;
}

const looks: Readonly<Record<AttentionKind, AttentionLook>> = {
  decision: { glyph: "question", tone: "attn", word: "decision" },
  target: { glyph: "failed", tone: "bad", word: "target branch" },
  budget: { glyph: "budget", tone: "budget", word: "budget reached" },
  risk: { glyph: "zombie", tone: "bad", word: "work at risk" },
  merge: { glyph: "conflict", tone: "bad", word: "merge stuck" },
  approval: { glyph: "approval", tone: "attn", word: "approval" },
  stalled: { glyph: "stalled", tone: "attn", word: "stalled" },
  dead_mail: { glyph: "dead", tone: "bad", word: "dead mail" },
  question: { glyph: "question", tone: "attn", word: "question" },
  budget_soon: { glyph: "budget", tone: "attn", word: "budget soon" },
  radar: { glyph: "conflict", tone: "attn", word: "collision ahead" },
  review: { glyph: "gate_passed", tone: "idle", word: "ready for review" },
};

export const attentionLook = (kind: AttentionKind): AttentionLook => looks[kind] ?? looks.question;
