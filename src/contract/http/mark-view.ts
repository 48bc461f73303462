import { iso } from "../values.ts";

/** What the operator marked something with. */
export function markView({
  mark,
}: {
  readonly mark: { readonly seenAt: number | null; readonly snoozedUntil: number | null };
}) {
  return {
    seen: mark.seenAt !== null,
    snoozedUntil: mark.snoozedUntil === null || mark.snoozedUntil < 0 ? null : iso(mark.snoozedUntil),
  };
}
