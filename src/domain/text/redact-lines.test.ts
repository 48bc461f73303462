import { expect, test } from "bun:test";
import { plantedSecrets } from "../../../testkit/secrets.ts";
import { redacted, redactor } from "./redact.ts";
import { LineRedactor } from "./redact-lines.ts";

function through(lines: readonly string[]): readonly string[] {
  const lines_ = new LineRedactor(redactor([]));
  return [...lines.flatMap((line) => lines_.push(line)), ...lines_.flush()];
}

const delta = (text: string, type = "stream_event"): string =>
  JSON.stringify({ type, event: { type: "content_block_delta", delta: { type: "text_delta", text } } });

test("lines without secrets come out as they went in, in order", () => {
  const lines = [delta("a"), delta("b"), "plain", "", '{"b":1.0}', '{"cut', delta("c"), "[]"];
  expect(through(lines)).toEqual(lines);
});

test("a secret that is printed in parts is found, wherever it is cut", () => {
  for (const { text, value } of plantedSecrets(38)) {
    for (const size of [1, 3, 7, 20]) {
      const parts = [...`so ${text} then`].reduce<string[]>((made, char, at) => {
        if (at % size === 0) made.push("");
        made[made.length - 1] += char;
        return made;
      }, []);
      const out = through(parts.map((part) => delta(part)));
      expect(out).toHaveLength(parts.length);
      const said = out.map((line) => (JSON.parse(line) as { event: { delta: { text: string } } }).event.delta.text);
      expect(said.join("")).not.toContain(value);
      expect(said.join("")).toContain(redacted);
      expect(said.join("")).toEndWith("then");
    }
  }
});

test("parts of two texts are not mixed, and other lines between them stay", () => {
  const key = plantedSecrets(1)[0]?.value ?? "";
  const [half, rest] = [key.slice(0, 12), key.slice(12)];
  const lines = [delta(half), delta(rest, "other"), '{"type":"ping"}'];
  expect(through(lines)).toEqual(lines);
});

test("a line that is JSON stays JSON, and a private key over many plain lines goes", () => {
  const [{ text, value } = { text: "", value: "" }] = plantedSecrets(38).filter(({ sort }) => sort === "private key");
  const out = through([JSON.stringify({ error: text }), "before", ...text.split("\n"), "after"]);
  expect(out).toEqual([JSON.stringify({ error: redacted }), "before", redacted, "after"]);
  expect(out.join("\n")).not.toContain(value);
});
