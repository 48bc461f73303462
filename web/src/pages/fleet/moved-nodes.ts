import { createStore } from "../../state/store.ts";

interface Place {
  readonly x: number;
  readonly y: number;
}

const key = "overstory.fleet.moved";

function stored(): Readonly<Record<string, Place>> {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "{}");
  } catch {
    // Places that cannot be read are only a matter of looks.
    return {};
  }
}

/** Where a person put agents in the drawing, by their ids. It lasts as long as the tab. */
export const movedNodes = createStore(stored());

movedNodes.subscribe(() => sessionStorage.setItem(key, JSON.stringify(movedNodes.get())));

export const moveNode = (id: string, { x, y }: Place): void =>
  movedNodes.set((before) => ({ ...before, [id]: { x, y } }));

export const layOutAgain = (): void => movedNodes.set({});
