import { useState } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import { ApiError, change } from "../../api/client.ts";
import type { IssuedKey, WebKey } from "../../api/types.ts";
import { cache, useResource } from "../../live/resource.ts";
import { toast } from "../../state/toasts.ts";
import { exactTime } from "../../state/words.ts";
import { Button, Picker } from "../../ui/controls.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { confirm } from "../../ui/overlays.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import css from "./settings-page.module.css";

const idOf = ({ id }: WebKey): string => id;
const nameOf = ({ kind, role, id }: WebKey): string =>
  `${kind} ${id} of ${role === "viewer" ? "a viewer" : "the operator"}`;
const readAgain = (): void => void cache.invalidateQueries({ queryKey: ["/api/keys"] });

/** Browsers that are signed in and tokens of programs. A token's secret is shown once, when it is made. */
export function Tokens() {
  const act = useAct();
  const whyNot = useWhyNot();
  const query = useResource({ path: "/api/keys", isFresh: true });
  const [role, setRole] = useState<"viewer" | "operator">("viewer");
  const [issued, setIssued] = useState<IssuedKey>();
  const create = async (): Promise<void> => {
    try {
      setIssued(await change<IssuedKey>("POST", "/api/keys", { role }));
      readAgain();
    } catch (error) {
      toast(`Could not make a token: ${error instanceof ApiError ? error.message : String(error)}.`, { failed: true });
    }
  };
  const revoke = (key: WebKey): void =>
    confirm({
      title: `Revoke ${key.kind} ${key.id}?`,
      effects: [
        key.kind === "token"
          ? "Programs that use it are refused at once."
          : "The browser with this session is signed out.",
        "It cannot be taken back. A new one can be made.",
      ],
      verb: `Revoke ${key.kind}`,
      run: () =>
        void act({
          what: `revoke ${key.kind} ${key.id}`,
          method: "DELETE",
          path: `/api/keys/${encodeURIComponent(key.id)}`,
          done: `${key.kind} ${key.id} is revoked.`,
        }).then(readAgain),
    });
  return (
    <>
      <div className={css.test}>
        <Picker
          label="Rights of the new token"
          value={role}
          options={[
            { value: "viewer", label: "viewer: can look, not act" },
            { value: "operator", label: "operator: can do everything" },
          ]}
          onChoose={setRole}
        />
        <Button look="primary" whyNot={whyNot} onClick={() => void create()}>
          Create token
        </Button>
      </div>
      {issued === undefined ? null : (
        <div className={css.secret} role="status">
          <p>
            The token of {issued.role === "viewer" ? "a viewer" : "the operator"}, until {exactTime(issued.expiresAt)}.
            It is shown only now:
          </p>
          <code>{issued.secret}</code>
          <div className={css.buttons}>
            <Button
              onClick={() =>
                void navigator.clipboard.writeText(issued.secret).then(() => toast("The token is copied."))
              }
            >
              Copy token
            </Button>
            <Button look="quiet" onClick={() => setIssued(undefined)}>
              Hide
            </Button>
          </div>
        </div>
      )}
      <Shown what="the tokens" query={query}>
        {({ items }) => (
          <Grid
            label="Sessions and tokens"
            rows={items}
            idOf={idOf}
            nameOf={nameOf}
            columns={columns}
            narrow={(key) => (
              <span>
                {nameOf(key)}, {usedWords(key)}, until {exactTime(key.expiresAt)}
              </span>
            )}
            actionsOf={(key) => [{ label: `Revoke ${key.kind}`, run: () => revoke(key), whyNot, danger: true }]}
            onOpen={revoke}
            empty={<Empty why="Nobody is signed in, and no token was made." command="ov serve login --token" />}
          />
        )}
      </Shown>
    </>
  );
}

const usedWords = ({ usedAt }: WebKey): string => (usedAt === null ? "never used" : `used ${exactTime(usedAt)}`);

const columns: readonly Column<WebKey>[] = [
  { id: "kind", header: "Kind", width: "10ch", cell: ({ kind }) => kind },
  { id: "role", header: "Rights", width: "10ch", cell: ({ role }) => role },
  { id: "id", header: "Id", width: "minmax(14ch, 1fr)", cell: ({ id }) => <code>{id}</code> },
  {
    id: "created",
    header: "Made",
    width: "24ch",
    from: 130,
    cell: ({ createdAt }) => exactTime(createdAt),
  },
  {
    id: "used",
    header: "Last used",
    width: "24ch",
    cell: ({ usedAt }) => (usedAt === null ? "never" : exactTime(usedAt)),
  },
  { id: "expires", header: "Ends", width: "24ch", cell: ({ expiresAt }) => exactTime(expiresAt) },
];
