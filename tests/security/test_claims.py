"""Every numbered promise of SECURITY.md has its tests: in the attacks beside this file, or where the room is tested."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = "security/test_attacks.py"
SERVING = "security/test_attacks_on_serve.py"
SERVER = "browser/test_server.py"

# Promise -> its tests, as a file below tests/ and names of functions in it.
TESTS: dict[str, dict[str, list[str]]] = {
    "S1": {
        "robustness/test_traps.py": ["test_the_reference_of_a_package_is_never_imported"],
        "cases/test_origin.py": [
            "test_a_build_made_here_leads_to_its_source",
            "test_a_foreign_package_leads_nowhere_even_if_it_brings_a_reference",
            "test_a_changed_package_is_no_longer_the_one_built_here",
            "test_scanbuild_s_own_package_is_known_by_its_cases",
            "test_a_user_without_a_home_has_nothing_remembered",
        ],
        "test_verify_command.py": [
            "test_without_a_reference_there_is_no_oracle_which_is_no_pass",
            "test_a_named_source_gives_the_reference",
        ],
        "serving/test_trial.py": ["test_a_reference_that_came_with_a_package_is_not_run"],
        ATTACKS: [
            "test_no_command_runs_a_reference_that_came_with_a_package",
            "test_nothing_is_imported_from_the_folder_that_a_command_runs_in",
            "test_inferring_types_imports_nothing_from_the_current_folder",
        ],
    },
    "S2": {
        "robustness/test_sandbox.py": [
            "test_no_value_has_the_innards_of_python",
            "test_no_name_leads_to_the_system",
            "test_no_name_in_a_template_leads_to_the_system",
            "test_no_helper_can_be_printed_or_looked_into",
            "test_the_same_template_gives_the_same_text_at_all_times",
        ],
    },
    "S3": {
        "robustness/test_traps.py": [
            "test_a_trap_in_an_expression_is_an_error_that_names_it",
            "test_a_trap_in_a_template_is_an_error_that_names_it",
            "test_every_exploding_manifest_is_answered_in_words_and_soon",
        ],
        "robustness/test_mutations.py": ["test_some_mutated_packages_get_an_answer_in_words"],
        "dialect/test_limits.py": ["test_a_template_that_grows_without_end_is_stopped"],
    },
    "S4": {
        "publishing/test_diff_command.py": ["test_a_report_that_a_link_puts_beside_a_package_is_not_read"],
        "robustness/test_traps.py": [
            "test_a_link_out_of_the_package_is_not_followed",
            "test_a_file_that_is_no_file_or_has_no_end_is_refused",
        ],
        "package/test_folders_and_sources.py": [
            "test_a_link_that_leaves_the_package_is_refused",
            "test_what_is_no_regular_file_is_refused",
            "test_a_file_beyond_the_limit_is_refused",
            "test_a_link_out_of_a_source_is_refused",
        ],
        "publishing/test_build.py": ["test_an_include_that_leads_nowhere_or_out_is_refused"],
    },
    "S5": {
        "robustness/test_traps.py": ["test_a_pass_cannot_name_a_place_outside_of_the_output"],
        "publishing/test_writer.py": ["test_a_folder_that_somebody_else_made_is_left_alone"],
        "publishing/test_commands.py": ["test_publish_does_not_replace_a_folder_with_other_things_in_it"],
        ATTACKS: [
            "test_nothing_is_written_through_a_link_in_place_of_the_output",
            "test_nothing_is_written_through_a_link_in_place_of_a_report_s_first_half",
            "test_nothing_is_written_through_a_link_in_place_of_a_report_that_is_left_beside_a_package",
            "test_verify_leaves_its_report_without_following_a_link",
            "test_a_pipe_in_place_of_a_report_that_is_left_does_not_hold_a_run_up",
        ],
    },
    "S6": {"robustness/test_traps.py": ["test_a_repository_around_the_package_runs_nothing"]},
    "S7": {
        "package/test_folders_and_sources.py": ["test_a_changed_file_is_found_by_its_digest"],
        "kernel/test_locations.py": ["test_an_edited_template_is_refused_at_the_call_that_needs_it"],
        "test_verify_command.py": ["test_an_edited_file_is_found_before_anything_runs"],
        "publishing/test_commands.py": [
            "test_publish_refuses_a_package_that_was_edited",
            "test_publish_refuses_a_file_that_no_digest_covers",
        ],
    },
    "S8": {"checking/test_suppression.py": ["test_an_error_cannot_be_suppressed"]},
    "S9": {
        "verify/test_engine_faults.py": [
            "test_an_endless_loop_ends_its_case_only",
            "test_a_worker_that_is_killed_costs_the_case_it_ran",
            "test_a_lost_device_costs_a_case_and_is_replaced",
            "test_running_out_of_memory_ends_its_case_only",
        ],
    },
    "S10": {
        "gpu/test_layout.py": ["test_writing_past_the_end_shows_where_there_is_room"],
        "verify/test_seeded_faults.py": ["test_an_off_by_one_bound_writes_past_the_end"],
    },
    "S11": {
        SERVER: [
            "test_anything_but_the_files_of_the_page_is_the_same_refusal",
            "test_the_token_is_long_and_new_each_time",
        ],
        ATTACKS: ["test_tokens_are_compared_in_constant_time"],
    },
    "S12": {
        SERVER: ["test_only_this_machine_is_spoken_to_without_encryption"],
        ATTACKS: ["test_servers_listen_on_this_machine_alone_unless_told_otherwise"],
    },
    "S13": {
        SERVER: ["test_a_name_that_is_not_the_servers_own_is_refused", "test_a_host_is_an_address_or_a_known_name"]
    },
    "S14": {SERVER: ["test_only_the_page_of_this_server_may_talk", "test_an_origin_has_the_host_that_was_asked"]},
    "S15": {
        SERVER: ["test_anything_but_the_files_of_the_page_is_the_same_refusal", "test_only_get_is_answered"],
    },
    "S16": {
        SERVER: [
            "test_a_message_that_is_too_large_ends_the_connection",
            "test_bytes_that_nobody_asked_for_end_the_connection",
            "test_a_page_that_never_stops_talking_is_cut_off",
            "test_only_so_many_pages_may_be_open",
        ],
    },
    "S17": {
        SERVER: [
            "test_the_page_and_its_files_are_served_to_whoever_knows_the_token",
            "test_the_page_asks_for_nothing_of_anybody_else",
        ],
        "browser/test_page.py": [
            "test_names_and_messages_are_only_ever_text",
            "test_nothing_is_loaded_or_run_that_the_policy_forbids",
        ],
    },
    "S18": {SERVER: ["test_what_strangers_send_is_not_shown_in_the_terminal"]},
    "S19": {
        SERVING: ["test_serve_answers_to_its_own_names_only"],
        "serving/test_files.py": ["test_a_name_that_another_site_points_here_is_not_answered"],
    },
    "S20": {
        SERVING: ["test_serve_gives_files_of_its_packages_and_nothing_else", "test_a_served_file_is_inert"],
        "serving/test_files.py": ["test_nothing_outside_a_package_is_read", "test_nothing_can_be_written"],
        "serving/test_paths.py": ["test_no_address_names_a_file_outside_a_package"],
    },
    "S21": {
        SERVING: ["test_only_the_page_of_serve_begins_tests", "test_no_other_site_can_read_the_page_of_serve"],
        "serving/test_trial.py": [
            "test_only_the_servers_own_page_with_its_token_begins_tests",
            "test_a_page_elsewhere_cannot_read_the_token",
        ],
        "serving/test_pages.py": ["test_where_others_reach_the_server_only_the_whole_address_lets_tests_be_run"],
        "serving/test_in_browser.py": ["test_a_page_of_another_origin_neither_reads_the_page_nor_begins_tests"],
    },
    "S22": {
        SERVING: ["test_whatever_a_package_says_is_text_on_the_page_of_serve"],
        "serving/test_pages.py": ["test_hostile_text_is_text_wherever_a_package_has_any"],
        "serving/test_in_browser.py": ["test_hostile_text_runs_nowhere"],
    },
    "S23": {
        "kernel/test_locations.py": [
            "test_a_location_is_refused_before_anything_is_fetched",
            "test_code_of_others_is_opted_into",
            "test_a_package_behind_a_url_obeys_the_loader_s_rules",
        ],
    },
    "S24": {
        "package/test_remote.py": ["test_the_token_goes_to_the_hub_only", "test_a_package_is_loaded_over_http"],
        "publishing/test_push_failures.py": ["test_an_address_that_is_no_hub_gets_no_token"],
        ATTACKS: [
            "test_a_redirect_away_from_the_hub_loses_the_token",
            "test_no_token_goes_over_an_open_line_to_another_machine",
        ],
    },
    "S25": {
        "package/test_remote.py": [
            "test_a_redirect_to_another_scheme_is_refused",
            "test_a_redirect_in_circles_ends",
            "test_an_answer_beyond_the_limit_is_refused",
            "test_an_answer_that_drips_is_given_up",
            "test_what_is_no_usable_url_is_refused",
        ],
    },
    "S26": {
        "publishing/test_push_failures.py": [
            "test_an_unknown_token_is_not_accepted",
            "test_a_token_that_no_header_can_carry_is_not_shown",
            "test_a_process_of_its_own_shows_no_token_and_leaves_nothing_at_home",
            "test_a_fault_of_our_own_shows_no_token_either",
        ],
    },
    "S27": {
        "publishing/test_push.py": [
            "test_a_dry_run_needs_no_token_and_writes_nothing",
            "test_a_verification_without_a_push_leaves_published_folders_as_they_are",
            "test_sources_with_changes_are_refused_unless_forced",
            "test_force_pushes_what_was_not_verified_and_warns",
        ],
    },
    "S28": {
        "robustness/test_traps.py": ["test_terminal_codes_of_a_package_do_not_reach_the_terminal"],
        "test_cli.py": ["test_a_package_cannot_steer_the_terminal"],
        "test_verify_command.py": ["test_names_from_a_package_do_not_steer_the_terminal"],
        ATTACKS: ["test_what_steers_a_terminal_is_spelled_out"],
    },
    "S29": {
        "verify/test_reports.py": ["test_annotations_name_file_and_line_and_no_package_can_forge_one"],
        ATTACKS: [
            "test_no_line_of_a_package_is_a_command_to_the_runner",
            "test_what_a_runner_takes_for_a_command_is_spelled_out",
        ],
    },
    "S30": {
        "verify/test_reports.py": [
            "test_the_page_needs_nothing_else_and_runs_nothing_of_a_package",
            "test_junit_counts_what_failed_and_holds_what_xml_can_hold",
        ],
        "bench/test_report.py": [
            "test_a_page_fetches_nothing_and_is_well_formed",
            "test_names_from_a_package_cannot_become_markup",
        ],
    },
    "S31": {
        "publishing/test_card.py": [
            "test_no_text_of_a_manifest_breaks_out_of_its_place",
            "test_no_licence_adds_a_line_to_the_front_matter",
            "test_names_that_javascript_reserves_are_renamed",
        ],
        "publishing/test_markdown.py": ["test_html_is_shown_and_not_obeyed"],
    },
    "S32": {ATTACKS: ["test_no_name_of_a_model_becomes_code"]},
    "S33": {
        "lowering/front/test_model.py": [
            "test_external_data_from_elsewhere_is_refused",
            "test_a_constant_in_a_function_is_read_from_nowhere_else_either",
        ],
        ATTACKS: ["test_external_data_through_a_link_is_refused"],
    },
    "S34": {
        "lowering/front/test_model.py": [
            "test_what_is_no_model_is_refused",
            "test_a_model_cut_off_anywhere_is_refused_or_read_and_nothing_else",
        ],
    },
    "S35": {"docs/test_workflows.py": ["test_no_input_becomes_part_of_a_script"]},
    "S36": {
        "docs/test_workflows.py": [
            "test_permissions_are_the_least",
            "test_every_action_has_a_fixed_version",
            "test_there_is_no_secret_in_a_workflow",
        ],
    },
    "S37": {"docs/test_wheel.py": ["test_two_builds_give_the_same_bytes", "test_only_files_that_git_knows_are_packed"]},
}


def promises() -> list[str]:
    """The numbers of the promises, in the order of the page."""
    return re.findall(r"^\* \*\*(S\d+)\*\* ", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.MULTILINE)


@cache
def functions_of(name: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8"))
    return {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_promises_are_numbered_in_order():
    assert promises() == [f"S{number}" for number in range(1, len(promises()) + 1)]
    assert len(promises()) > 20


def test_every_promise_has_tests_and_every_entry_its_promise():
    assert set(TESTS) == set(promises())
    assert all(names for files in TESTS.values() for names in files.values())


@pytest.mark.parametrize("promise", TESTS)
def test_the_tests_of_a_promise_are_there_and_check_something(promise: str):
    for file, names in TESTS[promise].items():
        for name in names:
            assert name in functions_of(file), f"{promise}: tests/{file} has no {name}"
            assert checks_something(functions_of(file)[name]), f"{promise}: {name} checks nothing"


def checks_something(function: ast.FunctionDef) -> bool:
    """Whether a test has an assertion, lets only some errors pass, or calls something that does by name."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Try):
            return True
        if isinstance(node, ast.Call) and re.search(r"raises|refused|in_time|answered|check", ast.unparse(node.func)):
            return True
    return False


def test_every_test_of_attacks_belongs_to_a_promise():
    for file in (ATTACKS, SERVING):
        listed = {name for files in TESTS.values() for name in files.get(file, [])}
        assert listed == set(functions_of(file))
