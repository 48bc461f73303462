/** The beginning of what a program says, kept as it comes. */
export interface FirstBytes {
  /** Settles only when there was more than may be kept. */
  readonly overflowed: Promise<"overflow">;
  /** What was said until the stream ended, or until this much time has passed; undefined when it was too much. */
  text(waitMs: number): Promise<string | undefined>;
}

/** Reads a stream until it ends or holds more than `limit` bytes. */
export function firstBytes(stream: ReadableStream<Uint8Array>, limit: number): FirstBytes {
  const { promise: overflowed, resolve: overflow } = Promise.withResolvers<"overflow">();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let kept = 0;
  const read = async (): Promise<void> => {
    while (kept <= limit) {
      const { value, done } = await reader.read();
      if (done) return;
      chunks.push(value);
      kept += value.byteLength;
    }
    overflow("overflow");
  };
  const whole = read();
  return {
    overflowed,
    text: async (waitMs) => {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([whole, late]);
      clearTimeout(timer);
      await reader.cancel();
      return kept > limit ? undefined : Buffer.concat(chunks).toString("utf8");
    },
  };
}
