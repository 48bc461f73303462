import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { renderConfigDocs } from "../src/config/docs.ts";
import { renderRoleDocs } from "../src/domain/role/render/docs.ts";
import { tree } from "../src/surfaces/cli/tree.ts";
import { renderDocs } from "../testkit/cli-reference.ts";

/** Writes the pages that are made from the command tree, the roles and the table of keys; tests compare them. */
writeFileSync(resolve(import.meta.dir, "../docs/cli.md"), renderDocs(tree));
writeFileSync(resolve(import.meta.dir, "../docs/roles.md"), renderRoleDocs());
writeFileSync(resolve(import.meta.dir, "../docs/configuration.md"), renderConfigDocs());
