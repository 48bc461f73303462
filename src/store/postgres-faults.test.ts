import { expect, test } from "bun:test";
import { Failure, failureOf } from "../domain/failure.ts";
import { placeOf, translated } from "./postgres.ts";

const place = "postgres://db.example:5432/team";
const serverError = (state: string): Error =>
  Object.assign(new Error("as the server says"), { code: "ERR_POSTGRES_SERVER_ERROR", errno: state });

test("a place shows neither user nor password", () => {
  expect(placeOf("postgres://me:secret@db.example:5432/team?sslmode=require")).toBe(place);
  expect(() => placeOf("not an address")).toThrow(Failure);
});

const kinds: readonly (readonly [string, string])[] = [
  ["XX001", "store-corrupt"],
  ["XX002", "store-corrupt"],
  ["25006", "store-read-only"],
  ["53100", "disk-full"],
  ["55P03", "store-busy"],
  ["57P01", "unexpected"],
  ["28P01", "unexpected"],
  ["53300", "unexpected"],
];
test.each(kinds)("the server's %s is a failure of kind %s", (state, kind) => {
  const failure = translated(place, serverError(state));
  expect(failure).toBeInstanceOf(Failure);
  expect(failureOf(failure).kind).toBe(kind as never);
});

test("what is not recognised, and what is a failure already, stays as it is", () => {
  const unique = serverError("23505");
  expect(translated(place, unique)).toBe(unique);
  const failure = new Failure({ kind: "store-read-only", path: place });
  expect(translated(place, failure)).toBe(failure);
  expect(translated(place, "thrown text")).toBe("thrown text");
});
