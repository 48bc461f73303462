import type { Store, Tx } from "../../../src/ports/store.ts";

/** A new, empty database of one test. Disposing closes every store on it and removes it. */
export interface TestDatabase extends AsyncDisposable {
  readonly store: Store;
  /** One more store on the same database, with connections of its own, as another process would have. */
  another(): Promise<Store>;
}

export type NewDatabase = () => Promise<TestDatabase>;

/** Declares one promise of the port as a test with its own database. */
export type Check = (name: string, body: (database: TestDatabase) => Promise<void>, timeoutMs?: number) => void;

/** Builds a `TestDatabase` from a way to open stores on one place and a way to remove it. */
export async function testDatabase(
  open: () => Store | Promise<Store>,
  remove: () => void | Promise<void>,
): Promise<TestDatabase> {
  const stores: Store[] = [];
  const another = async (): Promise<Store> => {
    const store = await open();
    stores.push(store);
    return store;
  };
  return {
    store: await another(),
    another,
    [Symbol.asyncDispose]: async () => {
      for (const store of stores) await store.close();
      await remove();
    },
  };
}

/** Notes which methods of the port are called through it, as `table.method`. */
export function recorded(store: Store, calls: Set<string>, all: Set<string>): Store {
  const wrap = (tx: Tx): Tx => {
    const made: Record<string, unknown> = {};
    for (const [table, rows] of Object.entries(tx)) made[table] = recordedRows(table, rows, calls, all);
    // The same tables with the same methods, only wrapped.
    return made as unknown as Tx;
  };
  return {
    ...store,
    transaction: (work) => store.transaction((tx) => work(wrap(tx))),
    read: (work) => store.read((tx) => work(wrap(tx))),
  };
}

function recordedRows(table: string, rows: object, calls: Set<string>, all: Set<string>): object {
  const made: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(rows)) {
    all.add(`${table}.${name}`);
    made[name] = (...given: unknown[]) => {
      calls.add(`${table}.${name}`);
      return Reflect.apply(method, rows, given);
    };
  }
  return made;
}
