import { useCallback, useMemo, useState } from "react";
import { ApiError, type Query, read } from "../api/client.ts";
import type { DiffFile, Replies } from "../api/types.ts";
import { useResource } from "../live/resource.ts";
import { toast } from "../state/toasts.ts";

export type DiffPath = "/api/agents/:name/diff" | "/api/merge/:of/diff";

/** How many unchanged lines stand around a change: at first, and in a file whose gaps were opened. */
const narrow = 3;
export const wholeFile = 100_000;

/** A diff of the server, with the files that were opened one by one since. It is read once: nothing reloads by itself. */
export function useDiff<Path extends DiffPath>(path: Path, given: Query) {
  const query = useResource({ path, given, isFresh: true });
  const key = JSON.stringify([given, query.dataUpdatedAt]);
  const [opened, setOpened] = useState<{ readonly key: string; readonly files: ReadonlyMap<string, Opened> }>();
  const own = opened?.key === key ? opened.files : noFiles;
  const data = query.data as Replies[DiffPath] | undefined;
  const files = useMemo(() => data?.files.map((file) => own.get(file.path)?.file ?? file) ?? noList, [data, own]);
  const contextOf = useCallback((name: string): number => own.get(name)?.context ?? narrow, [own]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for what was asked
  const openFile = useCallback(
    async (name: string, context: number): Promise<void> => {
      try {
        const reply = (await read(path, { ...given, file: name, context })) as Replies[DiffPath];
        const file = reply.files[0];
        if (file === undefined) return;
        setOpened((before) => ({
          key,
          files: new Map([...(before?.key === key ? before.files : []), [name, { file, context }]]),
        }));
      } catch (error) {
        const words = error instanceof ApiError ? error.message : String(error);
        toast(`Could not open ${name}: ${words}.`, { failed: true });
      }
    },
    [key, path],
  );
  return { query, files, contextOf, openFile };
}

interface Opened {
  readonly file: DiffFile;
  readonly context: number;
}
const noFiles: ReadonlyMap<string, Opened> = new Map();
const noList: readonly DiffFile[] = [];
