-- Tracewell for nvim-dap: put this where init.lua can require it. See docs/editors.md.
local dap = require("dap")

dap.adapters.tracewell = { type = "executable", command = "tracewell", args = { "dap" } }

local configurations = {
  {
    type = "tracewell",
    request = "launch",
    name = "Tracewell: log points",
    program = function() return vim.fn.input("program: ", vim.fn.getcwd() .. "/", "file") end,
    cwd = "${workspaceFolder}",
  },
  {
    type = "tracewell",
    request = "attach",
    name = "Tracewell: attach",
    pid = require("dap.utils").pick_process,
  },
  {
    type = "tracewell",
    request = "launch",
    name = "Tracewell: recording",
    trace = function() return vim.fn.input("recording: ", vim.fn.getcwd() .. "/", "file") end,
    program = function() return vim.fn.input("program (may be empty): ", "", "file") end,
  },
}

for _, language in ipairs({ "c", "cpp", "rust", "go" }) do
  dap.configurations[language] = vim.list_extend(dap.configurations[language] or {}, configurations)
end
