import { expect, test } from "bun:test";
import { lexical, nowhere, policyFor, runs } from "../../../../testkit/guard.ts";
import { roles } from "../../role/roles.ts";
import { checkCommand } from "../commands.ts";

const builder = policyFor(roles.builder);

test("where only a cd that fails is to blame, the reason says how to join the commands", () => {
  expect(runs(builder, "cd build; rm -rf ../b2")).toMatchObject({ reason: expect.stringContaining("join with &&") });
  expect(runs(builder, "cd build; rm -rf /etc")).toMatchObject({ reason: expect.not.stringContaining("join with &&") });
});

test("a directory that is there can be entered, as long as nothing in the line takes it away", () => {
  const there = ["/w/tree/src", "/w/tree/web"];
  const places = { ...nowhere.places, isDirectory: (path: string) => there.includes(lexical(path)) };
  const judged = (text: string) => checkCommand(text, "/w/tree", builder, { ...nowhere, places });
  expect(judged("cd src; rm -rf ../b2")).toBeUndefined();
  expect(judged("cd src\nrm -rf ../b2\ncd ..\nnpm test")).toBeUndefined();
  expect(judged("cd web; npm run build; cd ../src; touch x; cd ..; touch x")).toBeUndefined();
  expect(judged("for d in src web; do cd $d; npm test; cd ..; done")).toBeUndefined();
  expect(judged("cd dist; rm -rf ../b2")).toMatchObject({ rule: "boundary" });
  expect(judged("false && cd src; rm -rf ../b2")).toMatchObject({ rule: "boundary" });
  expect(judged("mv src dist; cd src; rm -rf ../b2")).toMatchObject({ rule: "boundary" });
});
