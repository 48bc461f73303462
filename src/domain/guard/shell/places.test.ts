import { expect, test } from "bun:test";
import { together } from "./places.ts";

test("places that are the same once .. is followed count once", () => {
  expect(together(["/w/tree"], ["/w/tree/src/..", "/w/./tree", "/w"])).toEqual(["/w/tree", "/w"]);
  expect(together(["/w"], [undefined, undefined])).toEqual(["/w", undefined]);
});

test("of many places none is known", () => {
  const many = Array.from({ length: 9 }, (_, at) => `/w/${at}`);
  expect(together([], many)).toEqual([undefined]);
  expect(together([], many.slice(1))).toHaveLength(8);
});
