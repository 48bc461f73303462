import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/** Parameters of the address. All are text; an absent one is undefined. */
export type Search = Readonly<Record<string, string | undefined>>;

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  // An address is read by people: what needs no escape there keeps its own sign.
  return text === "" ? "" : `?${text.replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2C", ",")}`;
}

/** The state of the page, which is its address. `set` adds a step to the history, `replace` does not. */
export function useUrl() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = useCallback(
    (patch: Search, replace: boolean): void => {
      void navigate({ to: ".", search: (before: Search) => ({ ...before, ...patch }), replace } as never);
    },
    [navigate],
  );
  const set = useCallback((patch: Search) => change(patch, false), [change]);
  const replace = useCallback((patch: Search) => change(patch, true), [change]);
  return { search, set, replace };
}

/** Goes to another page and keeps the run that is looked at. */
export function useGo() {
  const navigate = useNavigate();
  const { search } = useUrl();
  const run = search.run;
  return useCallback(
    (to: string, more: Search = {}): void => {
      void navigate({ to, search: { ...(run === undefined ? {} : { run }), ...more } } as never);
    },
    [navigate, run],
  );
}

/** A thing that can be looked at beside any page. */
export const peekKinds = ["agent", "merge", "msg", "task"] as const;
export interface Peek {
  readonly kind: (typeof peekKinds)[number];
  readonly id: string;
}

export function peekOf(text: string | undefined): Peek | undefined {
  const [, kind = "", id = ""] = /^(\w+):(.+)$/.exec(text ?? "") ?? [];
  const known = peekKinds.find((each) => each === kind);
  return known === undefined ? undefined : { kind: known, id };
}
