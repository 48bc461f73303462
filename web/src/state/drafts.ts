import { useCallback, useState } from "react";

const place = (key: string): string => `overstory.draft.${key}`;

const read = (key: string): string => localStorage.getItem(place(key)) ?? "";
function write(key: string, text: string): void {
  if (text === "") localStorage.removeItem(place(key));
  else localStorage.setItem(place(key), text);
}

/** Text that is not sent yet, by a name of its own. It survives a reload. `last` is what was sent or thrown away last. */
export function useDraft(key: string) {
  const [shown, setShown] = useState({ key, text: read(key) });
  // Another thread has another draft.
  if (shown.key !== key) setShown({ key, text: read(key) });
  const text = shown.key === key ? shown.text : read(key);
  const setText = useCallback(
    (next: string): void => {
      write(key, next);
      setShown({ key, text: next });
    },
    [key],
  );
  const clear = useCallback((): void => {
    write(`${key}.last`, read(key));
    setText("");
  }, [key, setText]);
  const bringBack = useCallback((): void => setText(read(`${key}.last`)), [key, setText]);
  return { text, setText, clear, bringBack };
}
