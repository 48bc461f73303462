export interface Ids {
  /** `<prefix>-` and random characters from [a-z0-9]. */
  next(prefix: string, length?: number): string;
  /** A secret with at least 128 bits. */
  secret(): string;
  /** One-way digest of a text, lower-case hex: what is stored of a secret. */
  digest(text: string): string;
}
