import { X } from "lucide-react";
import { type ComponentType, lazy, Suspense } from "react";
import { type Peek, peekOf, useUrl } from "../state/url.ts";
import { Loading } from "../ui/states.tsx";
import css from "./inspector.module.css";

/** What can be looked at beside a page. Each kind is loaded when it is first looked at; a page adds its line here. */
const peeks: Partial<Record<Peek["kind"], ComponentType<{ id: string }>>> = {
  agent: lazy(() => import("../agents/agent-peek.tsx")),
  merge: lazy(() => import("../merges/merge-peek.tsx")),
  msg: lazy(() => import("../mail/mail-peek.tsx")),
  task: lazy(() => import("../tasks/task-peek.tsx")),
};

/** Shows one thing beside the list, by `?peek=agent:builder-2`. On a phone it covers the page. */
export function Inspector() {
  const { search, set } = useUrl();
  const peek = peekOf(search.peek);
  if (peek === undefined) return null;
  const Body = peeks[peek.kind];
  return (
    <aside className={css.inspector} data-region="inspector" aria-label={`${peek.kind} ${peek.id}`}>
      <button type="button" className={css.close} aria-label="Close" onClick={() => set({ peek: undefined })}>
        <X aria-hidden />
      </button>
      <Suspense fallback={<Loading what={peek.id} />}>
        {Body === undefined ? (
          <p className={css.none}>There is no short view of this yet.</p>
        ) : (
          <Body key={peek.id} id={peek.id} />
        )}
      </Suspense>
    </aside>
  );
}
