export interface Ids {
  /** `<prefix>-` and random characters from [a-z0-9]. */
  next(prefix: string, length?: number): string;
  /** A secret with at least 128 bits. */
  secret(): string;
  /** One-way digest of a text, lower-case hex. A secret is stored only in this form. */
  digest(text: string): string;
}
