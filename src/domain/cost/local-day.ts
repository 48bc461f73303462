/** Tells the day of a moment in a time zone, as 2026-11-18; undefined for a zone that is none. */
export function localDay(zone: string): ((at: number) => string) | undefined {
  try {
    const days = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    });
    return (at) => days.format(at);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
