// Folders that are deleted after the tests of a file.
import { rmSync } from "node:fs";
import { after } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { newFolder } from "../../../server/test/support/server.ts";

const folders: string[] = [];
after(() => {
  // A process of a failed test may still write into the folder.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

export const folderOf = (): string => {
  const folder = newFolder();
  folders.push(folder);
  return folder;
};

/** A folder with a database, as a server leaves it. */
export const storeOf = async (): Promise<string> => {
  const folder = folderOf();
  const operator = await composeOperator(parseConfig({ HALYARD_DATA: folder }));
  await operator.close();
  return folder;
};
