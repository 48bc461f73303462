const known = new Map<string, string>();

/** `?` becomes `$1`, `$2` ... as PostgreSQL wants them; a question mark inside quotes stays what it is. */
export function numbered(text: string): string {
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  let count = 0;
  const made = text.replace(quotedOrMark, (found) => (found === "?" ? `$${++count}` : found));
  known.set(text, made);
  return made;
}

/** A doubled quote inside quotes reads as two quoted parts, which comes to the same. */
const quotedOrMark = /'[^']*'|"[^"]*"|\?/g;
