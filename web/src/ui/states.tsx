import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client.ts";
import { Button } from "./controls.tsx";
import css from "./states.module.css";

/** After a moment says what is being read. Until then the layout stands with empty cells. */
export function Loading({ what }: { what: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return late ? <p className={css.line}>Reading {what}</p> : null;
}

/** Why there is nothing, one thing to do, and the command that does it. */
export const Empty = ({ why, action, command }: { why: ReactNode; action?: ReactNode; command?: string }) => (
  <div className={css.empty}>
    <p>{why}</p>
    {action}
    {command === undefined ? null : <code>{command}</code>}
  </div>
);

/** What failed, in the server's words. What was read before stays on the page, dimmed. */
export function Failed({ what, error, onRetry }: { what: string; error: unknown; onRetry: () => void }) {
  const told = error instanceof ApiError ? error : undefined;
  return (
    <div className={css.failed} role="alert" data-tone="bad">
      <p>
        Could not read {what}: {told?.message ?? String(error)}
        {told !== undefined && told.status > 0 ? ` (${told.status})` : ""}.
        {told?.hint === undefined ? "" : ` ${told.hint}`}
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}

/** The forms of one part of a page: reading, failed, empty, and itself. `data` stays while a later reading fails. */
export function Shown<T>({
  what,
  query,
  children,
}: {
  what: string;
  query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  children: (data: T) => ReactNode;
}) {
  const failed =
    query.error === null ? null : <Failed what={what} error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return failed ?? <Loading what={what} />;
  return (
    <>
      {failed}
      {children(query.data)}
    </>
  );
}
