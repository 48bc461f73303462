import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { FlagValue } from "./command.ts";

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How a moment may be typed, for help. */
export const momentForms = "10s, 30m, 1h, 2d, a time of today or a date; without a zone it is your own";

/**
 * The moment that was typed: so long ago, a time of today, a day, or an ISO time. `end`: a day means its end, for the last
 * moment that counts.
 */
export function momentGiven(
  field: "since" | "until",
  given: FlagValue | undefined,
  now: number,
): Result<number | undefined, Refusal> {
  if (typeof given !== "string") return ok(undefined);
  const moment = momentOf(given.trim(), now, { end: field === "until" });
  if (moment !== undefined && !Number.isNaN(moment)) return ok(moment);
  return no(invalid(field, `is no moment (${momentForms})`, { value: given }));
}

export function momentOf(typed: string, now: number, { end }: { readonly end: boolean }): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/i.exec(typed) ?? [];
  if (count !== undefined && unit !== undefined)
    return now - Number(count) * (unitMs[unit.toLowerCase()] ?? Number.NaN);
  const [, hour, minute, second] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(typed) ?? [];
  if (hour !== undefined) {
    const today = new Date(now);
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
    return today.setHours(Number(hour), Number(minute), Number(second ?? 0), 0);
  }
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(typed) ?? [];
  // The platform reads a date alone as a day of UTC.
  if (year !== undefined) return dayOf(Number(year), Number(month), Number(day), end);
  const isIso = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i.test(typed);
  return isIso ? Date.parse(typed.replace(" ", "T")) : undefined;
}

function dayOf(year: number, month: number, day: number, end: boolean): number | undefined {
  const start = new Date(year, month - 1, day);
  if (start.getMonth() !== month - 1 || start.getDate() !== day) return undefined;
  return end ? new Date(year, month - 1, day + 1).getTime() - 1 : start.getTime();
}
