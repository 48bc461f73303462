import { expect, test } from "bun:test";
import { freshSettings, hooksStanding, withHooks } from "./settings-text.ts";

const ships = freshSettings();
/** As an earlier version would have written it. */
const old = ships.replaceAll('"timeout": 30', '"timeout": 5');

const stateOf = (text: string, lastWritten?: string) => hooksStanding({ text, lastWritten });

test("settings without our entries have none", () => {
  expect(stateOf("{}")).toBe("missing");
  expect(stateOf('{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}')).toBe("missing");
  expect(stateOf('{"hooks":7}')).toBe("missing");
});

test("our entries are current wherever they stand among the user's own", () => {
  expect(stateOf(ships)).toBe("current");
  const among = withHooks('{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]},"b":2}');
  expect(among.ok && stateOf(among.text)).toBe("current");
});

test("entries as we last wrote them are outdated once others ship, whatever else changed in the file", () => {
  expect(stateOf(old, old)).toBe("outdated");
  expect(stateOf(old.replace("{", '{"permissions":{},'), old)).toBe("outdated");
});

test("an event that is new with this version is no change of the user's", () => {
  const { hooks } = JSON.parse(old);
  delete hooks.SessionEnd;
  const fewer = JSON.stringify({ hooks });
  expect(stateOf(fewer, fewer)).toBe("outdated");
});

test("entries that somebody changed or took out are told from ours", () => {
  const changed = ships.replace('"timeout": 30', '"timeout": 99');
  expect(stateOf(changed, ships)).toBe("edited");
  expect(stateOf(changed, old)).toBe("diverged");
  expect(stateOf(changed)).toBe("unknown");
  const { hooks } = JSON.parse(ships);
  delete hooks.Stop;
  expect(stateOf(JSON.stringify({ hooks }), ships)).toBe("edited");
});

test("what is no plain JSON is not known", () => {
  expect(stateOf(`// mine\n${ships}`, ships)).toBe("unknown");
});
