import { expect, test } from "bun:test";
import fc from "fast-check";
import { readSeal, sealed, sealWord } from "./generated-state.ts";
import { generatedFiles, sealedGuide } from "./generated-texts.ts";

const digest = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

test("each generated text carries a seal that fits it, once", () => {
  for (const text of [...Object.values(generatedFiles(digest)), sealedGuide(digest)]) {
    const { seal, actual } = readSeal(text, digest);
    expect(seal).toBe(actual);
    expect(text.split(sealWord)).toHaveLength(2);
  }
});

test("the manifest stays JSON with the keys that readers know", () => {
  const manifest: Record<string, unknown> = JSON.parse(generatedFiles(digest).manifest);
  expect(Object.keys(manifest)).toEqual(["$comment", "version", "agents", "capabilityIndex"]);
});

test("other line ends and another last line do not break a seal", () => {
  const text = sealed(`# ${sealWord}\none\ntwo\n`, digest);
  for (const form of [text.replaceAll("\n", "\r\n"), text.trimEnd(), `${text}\n\n`]) {
    const { seal, actual } = readSeal(form, digest);
    expect(actual).toBe(seal ?? "");
  }
});

test("any other change breaks it, or takes it away", () => {
  const text = sealed(`# ${sealWord}\none\ntwo\n`, digest);
  fc.assert(
    fc.property(fc.nat(text.trimEnd().length - 1), fc.constantFrom("x", "", "\t", "0"), (at, put) => {
      const changed = text.slice(0, at) + put + text.slice(at + 1);
      fc.pre(changed !== text);
      const { seal, actual } = readSeal(changed, digest);
      expect(seal).not.toBe(actual);
    }),
  );
});
