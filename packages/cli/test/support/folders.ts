// Folders that are gone when the tests of a file are over.
import { rmSync } from "node:fs";
import { after } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { newFolder } from "../../../server/test/support/server.ts";

const folders: string[] = [];
after(() => {
  // A process that a failed test has left behind may still write into one.
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

export const folderOf = (): string => {
  const folder = newFolder();
  folders.push(folder);
  return folder;
};

/** A folder with a store in it, as a server leaves it. */
export const storeOf = async (): Promise<string> => {
  const folder = folderOf();
  const operator = await composeOperator(parseConfig({ HALYARD_DATA: folder }));
  await operator.close();
  return folder;
};
