import type { Ids } from "../ports/ids.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Random ids. 252 is the largest multiple of 36 in a byte: bytes above it would favour the first letters. */
export const randomIds: Ids = {
  next: (prefix, length = 12) => {
    let made = "";
    while (made.length < length) {
      for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
        if (byte < 252 && made.length < length) made += alphabet[byte % 36];
      }
    }
    return `${prefix}-${made}`;
  },
  secret: () => crypto.getRandomValues(new Uint8Array(32)).toHex(),
  digest: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
};
