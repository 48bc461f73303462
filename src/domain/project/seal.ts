/** One-way digest of a text, lower-case hex. It comes from outside, for nothing here computes one. */
export type Digest = (text: string) => string;

/** The word that a text of ours carries where its seal goes, in whatever its kind of file takes for a comment. */
export const sealWord = "overstory:generated";

/** A text of ours with its own digest in it, by which a later version tells what we wrote from what was changed since. */
export const sealed = (text: string, digest: Digest): string =>
  text.replace(sealWord, `${sealWord} ${shortDigest(text, digest)}`);

/** What a text says about itself, and what it really is. `seal` is undefined where there is none. */
export interface SealReading {
  readonly seal: string | undefined;
  /** Digest of the text without its seal: equal to it when nobody has changed a thing. */
  readonly actual: string;
}

export function readSeal(text: string, digest: Digest): SealReading {
  const [whole, seal] = new RegExp(`${sealWord} ([0-9a-f]{12})\\b`).exec(text) ?? [];
  const bare = whole === undefined ? text : text.replace(whole, sealWord);
  return { seal, actual: shortDigest(bare, digest) };
}

/** Git may give a checkout other line ends, and editors end the last line: neither is a change that somebody made. */
export const plainForm = (text: string): string => text.replaceAll("\r\n", "\n").trimEnd();

/** Enough digits to notice a change; nobody is kept out by it. */
const shortDigest = (text: string, digest: Digest): string => digest(plainForm(text)).slice(0, 12);
