# Run in every build: writes OUTPUT from TEMPLATE when VERSION or the git hash of CHECKOUT has changed.
find_program(GIT git)
set(GIT_HASH "")
# Whoever builds a checkout trusts it, also when it belongs to another account (git itself would refuse).
if(GIT)
  execute_process(
    COMMAND "${GIT}" -c "safe.directory=${CHECKOUT}" -C "${CHECKOUT}" describe --always --dirty --abbrev=12 "--exclude=*"
    OUTPUT_VARIABLE GIT_HASH ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT GIT_HASH)
  set(GIT_HASH "unknown")
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
configure_file("${PLUGIN_TEMPLATE}" "${PLUGIN_OUTPUT}" @ONLY)
